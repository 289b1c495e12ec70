"""The programs by JAX: the same text, compiled by `jax.jit` for the CPU.

A run ends with `block_until_ready`. Operands lie in JAX's arrays, results are JAX's new arrays.
"""

import os

# Before JAX is imported: it must not look for another device.
os.environ["JAX_PLATFORMS"] = "cpu"

import jax


def version(program, arrays):
    """The program as a call without arguments, compiled at its first run."""
    given = tuple(jax.numpy.asarray(array) for array in arrays)

    # The operands are arguments, or the compiler would compute with them.
    compiled = jax.jit(lambda *operands: program.by(jax.numpy, operands)())
    return lambda: jax.block_until_ready(compiled(*given))
