"""Families of dtypes: integers, bits, bools, casts, halves, complex numbers.

Not here: programs that take either float dtype (all other files).
"""

from . import family

INTEGERS = ("uint8", "int16", "int32", "int64", "uint32")


@family(lambda data, k: [data.line()], k=(1, 7), dtype=INTEGERS)
def bits_that_are_moved(np, k, x):
    return ((x >> k) ^ (x << 1)) & 127


@family(lambda data, k: [data.line()], k=(2, 60), dtype=INTEGERS)
def quotients_and_remainders(np, k, x):
    return x // k, x % k


@family(lambda data, k: [data.rows(k)], k=(2, 100), dtype=INTEGERS, how=("sum", "max", "mean"))
def integers_of_rows(np, k, x, how):
    return getattr(x, how)(axis=1)


@family(lambda data, k: [data.line(), data.line()], k=(1, 60), dtype=("uint8",))
def pixels_that_saturate(np, k, a, b):
    return np.clip(a.astype(np.int16) + b - k, 0, 255).astype(np.uint8)


@family(lambda data, k: [data.numbers(data.side(2) // k, data.side(2), k)], k=(2, 20), dtype=("uint8",))
def grey_of_bytes(np, k, image):
    return (image.astype(np.float32).mean(axis=-1) / 255 * 200).astype(np.uint8)


@family(lambda data, k: [data.line()], k=(1, 30), to=("int32", "uint8", "float16", "int64", "bool"))
def numbers_that_are_cast(np, k, x, to):
    return (x * k).astype(to), (x * k).astype(to).astype(np.float64)


@family(lambda data, k: [data.mask(0.5, data.n) for _ in range(k)], k=(2, 20))
def logic_of_masks(np, k, *masks):
    out = masks[0]
    for i, mask in enumerate(masks[1:]):
        out = (out & mask, out | ~mask, out ^ mask)[i % 3]
    return out, out.sum()


@family(lambda data, k: [data.places(2**32, data.n, dtype="uint32")], k=(1, 12))
def shifts_that_scramble(np, k, x):
    for _ in range(k):
        x = x ^ (x << np.uint32(13))
        x = x ^ (x >> np.uint32(17))
        x = x ^ (x << np.uint32(5))
    return x


@family(lambda data, k: [data.places(2**31, data.n, dtype="int64")], k=(2, 31))
def ones_of_integers(np, k, x):
    count = np.zeros_like(x)
    for bit in range(k):
        count += (x >> bit) & 1
    return count


@family(lambda data, k: [data.mask(0.5, data.n // k, 8 * ((k + 7) // 8))], k=(1, 40))
def packed_bits(np, k, mask):
    packed = np.packbits(mask, axis=1)
    return packed, np.unpackbits(packed, axis=1).sum(axis=1)


@family(lambda data, k: [data.rows(k)], k=(1, 40), dtype=("complex64", "complex128"))
def power_of_complex_rows(np, k, z):
    return (z * z.conj()).real.sum(axis=1), np.abs(z)


@family(lambda data, k: [data.line()], k=(1, 12), dtype=("complex64", "complex128"))
def complex_numbers_that_turn(np, k, z):
    z = z / 2
    for _ in range(k):
        z = z * z - 0.2j
    return z, z.real > z.imag


@family(lambda data, k: [data.rows(k)], k=(2, 200), dtype=("float32", "float64", "complex128"))
def spectrum_of_rows(np, k, x):
    return np.abs(np.fft.fft(x, axis=1)) ** 2


@family(lambda data, k: [data.rows(k)], k=(2, 3000), dtype=("float32", "float64"), axis=(0, 1))
def filter_of_waves(np, k, x, axis):
    spectrum = np.fft.rfft(x, axis=axis)
    return np.fft.irfft(spectrum * 0.5, x.shape[axis], axis)


@family(lambda data, k: [data.numbers(k, k)], k=(2, 500), dtype=("float64", "complex128"))
def spectrum_of_image(np, k, image):
    return np.fft.fft2(image)


@family(lambda data, k: [data.rows(k)], k=(2, 60), dtype=("float16",))
def halves_of_rows(np, k, x):
    return (x - x.mean(axis=1, keepdims=True)) * 2, x.max(axis=1)


@family(lambda data, k: [data.line(), data.line()], k=(1, 12), dtype=("float16",))
def halves_in_a_chain(np, k, x, y):
    for _ in range(k):
        x = x * y + np.float16(0.25)
    return x


@family(lambda data, k: [data.line(), data.places(50, data.n, dtype="int32")], k=(2, 30))
def dtypes_that_meet(np, k, x, n):
    return x * n + (n % k == 0), np.where(n > k, x, n)


@family(lambda data, k: [data.rows(k), data.rows(k)], k=(2, 60))
def close_rows(np, k, a, b):
    return np.isclose(a, b, atol=0.5).all(axis=1), np.sign(a - b).astype(np.int8)


@family(lambda data, k: [data.places(2**20, data.n, dtype="int64")], k=(2, 20))
def interleaved_bits(np, k, x):
    out = np.zeros_like(x)
    for bit in range(k):
        out |= ((x >> bit) & 1) << (2 * bit)
    return out
