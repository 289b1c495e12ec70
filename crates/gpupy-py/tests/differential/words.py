"""The names that a gap may be filled with.

Owns ``WORDS``. A function stands under what its results are compared by: to the bit, or within a bound.
"""

WORDS = {
    # Of numbers that are not complex.
    "exact1": """
        negative positive absolute fabs floor ceil trunc rint sqrt square sign conjugate isnan isinf isfinite
        signbit spacing logical_not invert reciprocal deg2rad degrees bitwise_count
    """,
    # These keep the dtype: where a result is converted, NumPy may write over operands that it still reads.
    "same1": "negative positive absolute floor ceil rint square sign conjugate invert",
    "same2": "add subtract multiply minimum maximum fmin fmax bitwise_and bitwise_xor floor_divide copysign",
    # Of complex numbers.
    "simple": "negative positive conjugate isnan isinf isfinite logical_not",
    "exact2": """
        add subtract multiply divide true_divide floor_divide remainder mod fmod minimum maximum fmin fmax
        less less_equal greater greater_equal equal not_equal logical_and logical_or logical_xor
        bitwise_and bitwise_or bitwise_xor left_shift right_shift copysign nextafter heaviside gcd lcm ldexp
    """,
    # Whose reductions do not depend on the order, of integers.
    "monotone": """
        add multiply minimum maximum logical_and logical_or logical_xor bitwise_or bitwise_and bitwise_xor
        subtract
    """,
    "function": """
        sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arctanh exp exp2 expm1 log log2 log10
        log1p cbrt
    """,
    "operator": "+ - * / // % & | ^ << >> < <= > >= == !=",
    "update": "+= -= *= /= //= %= &= |= ^= <<= >>=",
    "extreme": "min max any all argmin argmax ptp",
    "nanextreme": "nanmin nanmax nanargmin nanargmax",
    "kind": '"stable" "quicksort" None',
    "mode": '"raise" "wrap" "clip"',
    "padding": '"constant" "edge" "wrap" "reflect" "symmetric" "linear_ramp" "maximum" "mean"',
    "side": '"left" "right"',
    "method": '"linear" "lower" "nearest" "midpoint"',
}
