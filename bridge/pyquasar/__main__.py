"""The command: `python -m pyquasar` starts the prompt of qrun, `python -m pyquasar file.q` runs a program."""
import os, sys


def _command():
    here = os.path.dirname(os.path.abspath(__file__))
    for folder in (here, os.path.join(here, "../.."), os.path.join(here, "../../../../bin")):  # pip, build, install
        if os.access(os.path.join(folder, "qrun"), os.X_OK):
            return os.path.join(folder, "qrun")
    sys.exit("pyquasar: the command qrun is not beside the package in %s" % here)


def main():
    command = _command()
    os.environ.setdefault("QUASAR_PYTHON", sys.executable)  # pyimport uses this Python
    if sys.prefix != sys.base_prefix:
        os.environ.setdefault("VIRTUAL_ENV", sys.prefix)    # to find its llvmlite
    os.execv(command, [command] + sys.argv[1:])


if __name__ == "__main__":
    main()
