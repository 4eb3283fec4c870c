"""Describes the namespace, as the standard requires."""
from ._core import DEFAULTS, DTYPES, check_device, isdtype


class Info:
    """__array_namespace_info__()"""

    def capabilities(self):
        """The optional capabilities of the standard."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 8}

    def default_device(self):
        """The device on which arrays are created."""
        return "cpu"

    def default_dtypes(self, *, device=None):
        """The default types of Python numbers and of indices."""
        check_device(device)
        return dict({kind: DEFAULTS[kind] for kind in ("real floating", "complex floating", "integral")},
                    indexing=DEFAULTS["integral"])

    def dtypes(self, *, device=None, kind=None):
        """The types of a kind, by name."""
        check_device(device)
        return {d.name: d for d in DTYPES if kind is None or isdtype(d, kind)}

    def devices(self):
        """All devices."""
        return ["cpu"]


def __array_namespace_info__():
    """Describes what the namespace supports."""
    return Info()
