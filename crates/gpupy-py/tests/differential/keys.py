"""Keys: the expressions between the brackets after an array, the last one that a draft chose.

Not here: which array that is (``operands.py``).
"""

from .literals import near

# Longer index arrays and masks are computed, not listed.
_LISTED = 64


def _bound(draft, n):
    return draft.choose(["", "", "1", "-1", "2", str(n), "-2", "0", str(n // 2), str(-n)])


def _slice(draft, n):
    step = draft.choose(
        ["", "", "", ":-1", ":2", ":-2", ":3", ":-3", f":{max(n - 1, 1)}", f":{-max(n // 2, 1)}"]
    )
    return f"{_bound(draft, n)}:{_bound(draft, n)}{step}"


def basic(draft, n):
    kind = draft.below(6)
    if kind < 3 or not n:
        return _slice(draft, n)
    if kind < 5:
        return str(draft.below(2 * n) - n)
    return draft.choose([str(n), f"np.int64({n - 1})", ":"])


def _picked(draft, n):
    """An index along an axis of extent ``n`` that is an array."""
    if not n:
        return "[]"
    kind = draft.below(5)
    if n > _LISTED and kind > 2:
        return _picked_many(draft, n, kind == 3)
    numbers = [draft.below(2 * n) - n for _ in range(draft.choose([2, 3, 3, 1]))]
    if kind == 0:
        return repr(numbers)
    if kind == 1:
        return f"np.array({numbers}, dtype=np.{draft.choose(['int8', 'int64', 'int32'])})"
    if kind == 2:
        return f"np.array([{numbers}, {numbers[::-1]}])"
    if kind == 3:
        return f"np.array({[draft.below(2) == 0 for _ in range(n)]})"
    return repr([n]) if draft.chance(8) else f"np.array({numbers})"


def _picked_many(draft, n, mask):
    """As many indices as a threshold says, or a mask of ``n``."""
    if mask:
        return f"np.arange({n}) % {draft.choose([2, 3, 7, n])} == {draft.below(2)}"
    count, step = near(draft), draft.choose([1, 7, 2, n - 1])
    return f"np.arange({count}) * {step} % {n} - {draft.choose([0, n, 1])}"


def key(part):
    def gap(draft):
        array = draft.last
        parts = [part(draft, n) for n in array.shape[: draft.below(array.ndim + 1)]]
        if draft.chance(4):
            parts.insert(draft.below(len(parts) + 1), "...")
        if draft.chance(5):
            parts.insert(draft.below(len(parts) + 1), "None")
        return ", ".join(parts) or "..."

    return gap


def mixed(draft, n):
    return _picked(draft, n) if draft.below(2) else basic(draft, n)


def mask(draft):
    """A mask over the last array, or over one that is still to come."""
    if draft.last is None:
        draft.array()
    last = draft.last
    names = draft.names(lambda a: a.dtype == bool and a.ndim and a.shape == last.shape[: a.ndim])
    if names and draft.below(2):
        return draft.choose(names)
    return f"{draft.last_name} {draft.choose(['>', '<=', '=='])} {draft.choose([1, 0, 2])}"


def any_key(draft):
    kind = draft.below(8)
    if kind == 0:
        return mask(draft)
    return key(mixed if kind > 4 else basic)(draft)


def indices(draft):
    """Index arrays for functions that take along an axis of the last array."""
    if not draft.last.size:
        # Where they wrap around no elements, NumPy goes round for ever.
        raise draft.unsuitable
    n = max(draft.last.size if draft.chance(2) else max(draft.last.shape, default=1), 1)
    numbers = [draft.below(n) for _ in range(draft.choose([1, 2, 3, 4]))]
    return draft.choose([repr(numbers), f"np.array({numbers})", f"np.array([{numbers}])", str(numbers[0])])
