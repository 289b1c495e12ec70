"""What scalar operations compute, after docs/ir.md, on NumPy arrays of bool, int32, uint32 and float32."""

import numpy as np

FUNCTIONS = {name: getattr(np, name) for name in "exp exp2 expm1 log log2 log10 log1p sin cos tan".split()}
FUNCTIONS |= {name: getattr(np, name) for name in "sinh cosh tanh hypot cbrt".split()}
FUNCTIONS |= {"asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2, "pow": np.power}
FUNCTIONS |= {"asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh}
COMPARISONS = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal}
COMPARISONS |= {"gt": np.greater, "ge": np.greater_equal}
FLOATS = {"neg": np.negative, "abs": np.abs, "sqrt": np.sqrt, "floor": np.floor, "ceil": np.ceil}
FLOATS |= {"trunc": np.trunc, "rint": np.rint, "add": np.add, "sub": np.subtract, "mul": np.multiply}
FLOATS |= {"div": np.divide, "copysign": np.copysign, "fmod": np.fmod, "isnan": np.isnan, "isinf": np.isinf}
FLOATS |= {"isfinite": np.isfinite, "signbit": np.signbit}
INTEGERS = {
    "neg": np.negative, "abs": np.abs, "sign": np.sign, "not": np.invert, "add": np.add, "sub": np.subtract,
    "mul": np.multiply, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "floordiv": lambda x, y: np.where(y == 0, 0, x // np.where(y == 0, 1, y)),
    "mod": lambda x, y: np.where(y == 0, 0, x % np.where(y == 0, 1, y)),
    "shl": lambda x, y: np.where((y >= 0) & (y < 32), x << (y & 31), 0),
    "shr": lambda x, y: x >> np.where((y >= 0) & (y < 32), y, 32),
}  # fmt: skip
BOOLS = {"abs": lambda x: x, "not": np.logical_not, "xor": np.logical_xor}
BOOLS |= dict.fromkeys(["add", "or", "max"], np.logical_or)
BOOLS |= dict.fromkeys(["mul", "and", "min"], np.logical_and)


def apply(op, dtype, x, y=None, z=None):
    """What a scalar operation computes."""
    args = (x,) if y is None else (x, y)
    if op == "select":
        return np.where(x, y, z)
    if op == "bitcast":
        return np.ascontiguousarray(x).view(dtype)
    if op == "cast":
        return cast(x, dtype)
    if op in COMPARISONS:
        return COMPARISONS[op](x, y)
    if x.dtype == bool:
        return BOOLS[op](*args)
    if x.dtype.kind in "iu":  # in 64 bits, then wrapped
        return INTEGERS[op](*(arg.astype(np.int64) for arg in args)).astype(dtype)
    if op in ("min", "max"):
        return np.where(np.isnan(x) | (x < y if op == "min" else x > y), x, y)
    if op == "sign":
        return np.where(np.isnan(x), x, np.float32(1) * (x > 0) - (x < 0)).astype(dtype)
    if op in FUNCTIONS:
        return FUNCTIONS[op](*(arg.astype(np.float64) for arg in args)).astype(dtype)
    return FLOATS[op](*args)


def cast(x, dtype):
    """A cast by value; what does not fit is the least int32, or the low bits of the least int64."""
    if x.dtype != np.float32 or dtype not in ("int32", "uint32"):
        return x != 0 if dtype == "bool" else x.astype(dtype)
    limit = 2.0**31 if dtype == "int32" else 2.0**63
    whole = np.trunc(x.astype(np.float64))
    fits = (whole >= -limit) & (whole < limit)
    return np.where(fits, np.where(fits, whole, 0).astype(np.int64), -int(limit)).astype(dtype)
