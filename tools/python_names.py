#!/usr/bin/env python3
"""Writes lang/syntax/python_names.def from the packages that are installed:  tools/python_names.py QRUN

The table has the functions of NumPy, SciPy, scikit-image and PyWavelets that are absent here, so that the error for an
unknown name can say how to call them through pyimport.  Names that exist here, or have a hint in habits.def, are left
out: QRUN, the built command, is asked."""
import importlib, os, re, subprocess, sys, tempfile, textwrap, types

TABLE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lang/syntax/python_names.def")
MODULES = """numpy numpy.fft numpy.linalg scipy.ndimage scipy.signal scipy.signal.windows scipy.linalg scipy.special
    scipy.interpolate scipy.optimize scipy.integrate scipy.spatial scipy.spatial.distance scipy.stats scipy.sparse
    scipy.sparse.linalg scipy.cluster.vq scipy.cluster.hierarchy skimage.color skimage.draw skimage.exposure
    skimage.feature skimage.filters skimage.filters.rank skimage.graph skimage.measure skimage.metrics
    skimage.morphology skimage.registration skimage.restoration skimage.segmentation skimage.transform skimage.util
    pywt""".split()
HEAD = '''/* python_names.def -- lists functions of Python packages that have no counterpart here, by module.
 *
 * tools/python_names.py writes this table.  The error for an unknown name uses it to name the module.
 *
 * IN_PYTHON(module, names) */
'''


def public_names(module):
    """The functions and classes of a module that its documentation lists."""
    found = importlib.import_module(module)
    names = getattr(found, "__all__", None) or dir(found)
    for name in names:
        value = getattr(found, name, None)
        plain = re.fullmatch(r"[A-Za-z]\w\w+", name) and callable(value) and not isinstance(value, types.ModuleType)
        if plain and not (isinstance(value, type) and issubclass(value, BaseException)):
            yield name


def unknown_names(qrun, names):
    """The names for which qrun knows neither a function nor a hint."""
    with tempfile.NamedTemporaryFile("w", suffix=".q") as f:
        f.writelines(f"y = {name}(1)\n" for name in names)
        f.flush()
        said = subprocess.run([qrun, "--check", f.name], capture_output=True, text=True).stderr
    refused = {int(line) for line in re.findall(r"\.q:(\d+):\d+: error: (?!unknown name)", said)}
    if refused:  # keywords: an error of syntax hides all errors of names
        return unknown_names(qrun, [name for i, name in enumerate(names, 1) if i not in refused])
    return {name for name, hint in re.findall(r"unknown name '(\w+)'(.*)", said)
            if re.fullmatch(r'|: did you mean .*|: write \w+ = pyimport\("[\w.]+"\), then .*', hint)}


def main():
    owner = {}
    for module in MODULES:
        for name in public_names(module):
            owner.setdefault(name, module)
    unknown = unknown_names(sys.argv[1], sorted(owner))
    rows = []
    for module in MODULES:
        names = " ".join(sorted(n for n in unknown if owner[n] == module))
        lines = textwrap.wrap(names, 112)
        if lines:
            rows.append(f'IN_PYTHON("{module}",\n' + "\n".join(f'    "{line} "' for line in lines) + ")\n")
    with open(TABLE, "w", encoding="utf-8") as f:
        f.write(HEAD + "".join(rows))


if __name__ == "__main__":
    main()
