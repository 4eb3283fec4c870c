"""What the namespace can do, as the standard wants it told."""
from ._core import DEFAULTS, DTYPES, check_device, isdtype


class Info:
    """__array_namespace_info__()"""

    def capabilities(self):
        """What is not the same everywhere."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 8}

    def default_device(self):
        """Where arrays are made."""
        return "cpu"

    def default_dtypes(self, *, device=None):
        """The types of numbers of Python, and of indices."""
        check_device(device)
        return dict({kind: DEFAULTS[kind] for kind in ("real floating", "complex floating", "integral")},
                    indexing=DEFAULTS["integral"])

    def dtypes(self, *, device=None, kind=None):
        """The types of a kind, by their names."""
        check_device(device)
        return {d.name: d for d in DTYPES if kind is None or isdtype(d, kind)}

    def devices(self):
        """All there are."""
        return ["cpu"]


def __array_namespace_info__():
    """What the namespace can do."""
    return Info()
