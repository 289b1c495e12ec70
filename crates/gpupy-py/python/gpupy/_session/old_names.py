"""Names of modules in pickles of earlier states of gpupy, whose modules have other places now.

Owns ``MOVED``. Invariants: a name that a pickle may have is found for ever; a public class or function keeps
the module that pickles and messages name it by, whatever file it is in; this is no folder of today, whose
file others would take for that of the class. Not here: what is pickled
(``_methods/pickling.py``).
"""

import functools
import importlib
import os
import sys
import types
from typing import Any

_ROOT = os.path.dirname(os.path.dirname(__file__))
# The module of today that has the names of an earlier one.
MOVED = {
    "_drivers": "_program.drivers",
    "_fallback": "_fallback.policy",
    "_flat": "_views.flat",
    "_imports": "_program.imports",
    "_iteration": "_views.iteration",
    "_methods": "_methods.pickling",
    "_policy": "_fallback.policy",
    "_proxy": "_fallback.proxy",
    "_scope": "_scopes.scope",
    "_session": "_program.drivers",
    "_typed_list": "_typed.typed_list",
    "_ufunc": "_compute.ufunc_methods",
    "_vector": "_typed.vector",
}


def install(package: str) -> None:
    """Makes the earlier names importable, those of folders of today too."""
    for old, new in MOVED.items():
        name = f"{package}.{old}"
        if name not in sys.modules:
            sys.modules[name] = types.ModuleType(name)
            # Where readers of sources look.
            sys.modules[name].__file__ = os.path.join(_ROOT, *new.split(".")) + ".py"
        vars(sys.modules[name])["__getattr__"] = functools.partial(_found, f"{package}.{new}")


def _found(module: str, name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(importlib.import_module(module), name)
