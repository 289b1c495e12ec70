"""JAX: its functions, compiled or not, take our arrays and scalars."""

from steps import Steps

step = Steps("jax.numpy")


@step
def an_array_of_ours(np, jnp):
    return jnp.asarray(np.arange(3, dtype=np.float32))


@step
def a_function_of_an_array(np, jnp):
    return jnp.sin(np.arange(3, dtype=np.float32))


@step
def arithmetic_with_an_array(np, jnp):
    return jnp.ones(3, jnp.float32) + np.arange(3, dtype=np.float32)


@step
def arithmetic_with_an_array_on_the_left(np, jnp):
    return np.arange(3, dtype=np.float32) + jnp.ones(3, jnp.float32)


@step
def a_compiled_function(np, jnp):
    import jax

    return jax.jit(lambda x: (x * x).sum())(np.arange(3, dtype=np.float32))


@step
def a_gradient(np, jnp):
    import jax

    return jax.grad(lambda x: (x * x).sum())(np.arange(3, dtype=np.float32))


@step
def a_function_of_each_row(np, jnp):
    import jax

    return jax.vmap(lambda row: row.max())(np.arange(6, dtype=np.float32).reshape(2, 3))


@step
def an_array_by_dlpack(np, jnp):
    return jnp.from_dlpack(np.arange(3, dtype=np.float32))


@step
def an_array_put_on_a_device(np, jnp):
    import jax

    return jax.device_put(np.arange(3, dtype=np.float32))


@step
def a_scalar_of_ours(np, jnp):
    return jnp.asarray(np.arange(3, dtype=np.float32).sum()) * 2


@step
def a_scalar_in_arithmetic(np, jnp):
    return jnp.arange(3, dtype=jnp.float32) * np.arange(3, dtype=np.float32).sum()


@step
def an_array_of_jaxs(np, jnp):
    return np.asarray(jnp.arange(3, dtype=jnp.float32)) * 2


@step
def elements_by_an_index_array(np, jnp):
    return jnp.arange(5.0)[np.array([3, 1])]


@step
def elements_set_at_places(np, jnp):
    return jnp.zeros(4).at[np.array([3, 1])].set(np.array([1.0, 2.0], np.float32))


test_jax = step.tests()
