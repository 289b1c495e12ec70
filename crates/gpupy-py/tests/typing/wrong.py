"""Mistakes that a type checker finds: where it does not, the comment on the line is an error."""

import gpupy as np
from gpupy.typing import NDArray


def doubled(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return x * 2


np.no_such_function(1)  # type: ignore[attr-defined]
np.linalg.no_such_function(1)  # type: ignore[attr-defined]
np.zeros(3).no_such_method()  # type: ignore[attr-defined]
np.zeros("three")  # type: ignore[arg-type]
np.sum(np.ones(3), axes=0)  # type: ignore[call-overload]
np.add(np.ones(3), 1, out="x")  # type: ignore[call-overload]
np.ones(3, dtype=np.float64).astype(np.float32, order="Z")  # type: ignore[call-overload]
np.linalg.solve(np.eye(2))  # type: ignore[call-overload]
doubled([1.0, 2.0])  # type: ignore[arg-type]
whole = np.ones(3, dtype=np.int64)
doubled(whole)  # type: ignore[arg-type]
count: int = np.ones(3)  # type: ignore[assignment]
np.fallback("never")  # type: ignore[arg-type]
np.driver(1)  # type: ignore[arg-type]
np.drivers()[0]["device_name"]  # type: ignore[typeddict-item]
np.stats().no_such_count  # type: ignore[attr-defined]
np.evaluate([1.0])  # type: ignore[arg-type]
np.explain()  # type: ignore[call-arg]
np.explain(np.ones(3)).picture  # type: ignore[attr-defined]
np.use(None)  # type: ignore[arg-type]
np.info() + 1  # type: ignore[operator]
