"""Imports this package from an executable made by `qrun --make-exe`.  The package's files are stored behind the
program; the bridge runs this module before it imports the others."""
import importlib.util, sys
from importlib.machinery import ExtensionFileLoader, PathFinder, SourceFileLoader


def _told(spec, tell):
    """Calls tell(module) after the module of spec has been loaded."""
    if spec and spec.loader:
        load = spec.loader.exec_module
        spec.loader.exec_module = lambda module: (load(module), tell(module))
    return spec


def run_spawned():
    """Runs a process that multiprocessing started with this executable as if it were Python (vm/program/prebuilt.c)."""
    at = sys.argv.index("-c")
    code, sys.argv[:] = sys.argv[at + 1], ["-c"] + sys.argv[at + 2:]
    exec(code, {"__name__": "__main__"})


def install(program, files, bridge):
    """Installs an importer for the package.

    program: path under which the files appear; files: their bytes by name, relative to the folder of the package;
    bridge: path of the C module."""
    texts = {program + "/" + name: text for name, text in files.items()}

    class Loader(SourceFileLoader):
        def get_data(self, path):
            return texts[path]

        def path_stats(self, path):  # not a real file: prevents writing .pyc files
            raise OSError

    class Finder:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name == "pyquasar._inside":
                return importlib.util.spec_from_file_location(name, bridge, loader=ExtensionFileLoader(name, bridge))
            if name == "multiprocessing.spawn":
                return _told(PathFinder.find_spec(name, path), lambda module: module.set_executable(program))
            for end in ("/__init__.py", ".py"):
                file = program + "/" + name.replace(".", "/") + end
                if file in texts:
                    return importlib.util.spec_from_file_location(name, file, loader=Loader(name, file))

    sys.meta_path.insert(0, Finder)
