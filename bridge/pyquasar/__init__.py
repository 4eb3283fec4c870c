"""Quasar and Python together."""
from ._support import QuasarError, error_types
from ._bridge import qfunction, qvalue

globals().update((t.__name__, t) for t in error_types)
__all__ = ["QuasarError", "qfunction", "qvalue"] + [t.__name__ for t in error_types[1:]]
