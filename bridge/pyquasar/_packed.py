"""This package inside an executable that `qrun --make-exe` made: its files are bytes behind the program, and the bridge
runs this one before it imports the others."""
import importlib.util, sys
from importlib.machinery import ExtensionFileLoader, PathFinder, SourceFileLoader


def _told(spec, tell):
    """The module is told something once it is loaded."""
    if spec and spec.loader:
        load = spec.loader.exec_module
        spec.loader.exec_module = lambda module: (load(module), tell(module))
    return spec


def run_spawned():
    """In a process that multiprocessing started: this executable, as if it were Python (vm/program/prebuilt.c)."""
    at = sys.argv.index("-c")
    code, sys.argv[:] = sys.argv[at + 1], ["-c"] + sys.argv[at + 2:]
    exec(code, {"__name__": "__main__"})


def install(program, files, bridge):
    """program: what the files are called as if they lay in; files: their bytes, by their names from the folder of the
    package on; bridge: where the C module can be opened."""
    texts = {program + "/" + name: text for name, text in files.items()}

    class Loader(SourceFileLoader):
        def get_data(self, path):
            return texts[path]

        def path_stats(self, path):  # no file: nothing is compiled into a folder beside it
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
