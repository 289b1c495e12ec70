"""einops: axes moved, joined, split, reduced and repeated by patterns of names."""

from steps import Steps

step = Steps("einops")


def image(np):
    return np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@step
def rearranged(np, einops):
    return einops.rearrange(image(np), "h w c -> c h w")


@step
def joined_axes(np, einops):
    return einops.rearrange(image(np), "h w c -> (h w) c")


@step
def split_axes(np, einops):
    return einops.rearrange(image(np), "h w (a b) -> a h w b", a=2)


@step
def reduced(np, einops):
    return einops.reduce(image(np), "h w c -> h c", "mean")


@step
def reduced_by_a_maximum(np, einops):
    return einops.reduce(image(np), "h w (c two) -> h w c", "max", two=2)


@step
def repeated(np, einops):
    return einops.repeat(image(np), "h w c -> h (w two) c", two=2)


@step
def a_list_of_arrays(np, einops):
    return einops.rearrange([image(np), image(np) + 1], "b h w c -> b c h w")


@step
def products_of_names(np, einops):
    return einops.einsum(np.ones((2, 3)), np.arange(12.0).reshape(3, 4), "i k, k j -> i j")


@step
def packed(np, einops):
    packed, shapes = einops.pack([np.ones((2, 3)), np.ones((2, 4, 5))], "i *")
    return packed, [tuple(shape) for shape in shapes]


@step
def unpacked(np, einops):
    return einops.unpack(np.arange(12.0).reshape(2, 6), [(2,), (2, 2)], "i *")


@step
def shapes_by_names(np, einops):
    return einops.parse_shape(image(np), "h w _")


@step
def what_stays_ours(np, einops):
    return type(einops.rearrange(image(np), "h w c -> c (h w)")) is type(image(np))


test_einops = step.tests()
