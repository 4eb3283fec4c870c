"""Implements %load_ext pyquasar: notebook cells in the language.

    %%quasar -i a,b -o y
    y = a.*b + 1"""
from . import _bridge, _support


def _names(line):
    """Parses -i a,b -o y: returns the names of inputs and of outputs."""
    import shlex
    given, direction = {"-i": [], "-o": []}, None
    for word in shlex.split(line.replace(",", " ")):
        if word in given:
            direction = word
        elif direction is None or not word.isidentifier():
            raise ValueError("%%%%quasar: -i and -o with names of variables are wanted, got %r" % word)
        else:
            given[direction].append(word)
    return given["-i"], given["-o"]


def _open():
    import pyquasar
    if not _bridge._is_open():
        pyquasar.init()


def _cell(shell, line, body):
    """Runs a cell; its variables remain for the next one.

    -i a,b  Python variables that the cell uses; arrays are not copied -o y    variables of the cell that are returned
    to Python

    The value of a final expression is shown unless a semicolon follows."""
    into, out = _names(line)
    missing = [n for n in into if n not in shell.user_ns]
    if missing:
        raise NameError("%%%%quasar: there is no variable %s in Python" % missing[0])
    _open()
    for name in into:
        _bridge._define(name, shell.user_ns[name])
    text = "%%quasar " + line + "\n" + body  # a comment there, which keeps line numbers
    _support.name_text(text, "In[%d]" % (len(shell.user_ns["In"]) - 1))  # shell.execution_count may be one ahead
    shown = _bridge._evaluate(text)
    for name in out:
        shell.user_ns[name] = _bridge._attribute(name)
    hidden = body.rstrip().endswith(";") or getattr(shown, "typename", None) == "figure"  # its picture is shown
    return None if hidden else shown


def _show_figures(folder):
    """Shows the figures drawn since the last call; a figure that was drawn again is shown again."""
    import glob, os
    if _bridge._is_open():
        _bridge._attribute("drawnow")()
    from IPython.display import Image, display
    for path in sorted(glob.glob(os.path.join(folder, "*.png"))):
        display(Image(filename=path))
        os.remove(path)


def _catch_figures(shell):
    """Shows figures drawn by a cell below it, unless QUASAR_FIGURES redirects them."""
    import atexit, os, shutil, tempfile
    if os.environ.get("QUASAR_FIGURES"):
        return
    folder = os.environ["QUASAR_FIGURES"] = tempfile.mkdtemp(prefix="quasar")
    atexit.register(shutil.rmtree, folder, True)
    shell.events.register("post_run_cell", lambda *result: _show_figures(folder))


class _Bar:
    """A progress bar for progress(); each operation has its own bar, which is updated in place."""
    def __init__(self):
        self.shown = None

    def move(self, part, line):
        import html
        from IPython.display import DisplayHandle
        value = ' value="%.4f"' % part if part is not None else ""  # without a value it is indeterminate
        page = {"text/html": "<progress%s></progress> %s" % (value, html.escape(line)), "text/plain": line}
        if self.shown is None:
            self.shown = DisplayHandle()
            self.shown.display(page, raw=True)
        else:
            self.shown.update(page, raw=True)
        if part is not None and part >= 1:
            self.shown = None

    def end(self, *result):
        self.shown = None


class _Onlooker:
    """Shows the progress of built-ins that take longer than a second, from a thread that runs beside the cell."""
    thread = None

    def begin(self, *cell):
        import threading
        self.done = threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)
        self.thread.start()

    def end(self, *result):
        if self.thread:  # the first cell began before it was created
            self.done.set()
            self.thread.join()

    def look(self):
        import time
        call, bar, line, since = None, None, "", 0
        while True:
            ended, now = self.done.wait(0.25), _bridge._doing()
            if ended or now is None or now[0] != call:
                if bar:
                    bar.move(1, line)
                call, bar, since = now and now[0], None, time.monotonic()
            if ended:
                return
            took = time.monotonic() - since
            if now and took >= 1:
                part = now[2]
                line = "%s  %.0f s" % (now[1], took)
                bar = bar or _Bar()
                bar.move(part, "%s  %.0f %%  %.0f s left" % (now[1], 100*part, took/part - took) if part else line)


def _show_progress(shell):
    bar, onlooker = _Bar(), _Onlooker()
    shell.events.register("pre_run_cell", onlooker.begin)
    shell.events.register("post_run_cell", onlooker.end)

    def listen():
        _bridge._attribute("progress")(lambda part, line: bar.move(part, line))
    shell.events.register("post_run_cell", bar.end)
    _support.when_open.append(listen)
    if _bridge._is_open():
        listen()


def load(shell):
    if not hasattr(shell, "register_magic_function"):
        raise TypeError("load_ipython_extension: the shell of IPython is wanted, got %s" % type(shell).__name__)
    _catch_figures(shell)
    _show_progress(shell)

    def quasar(line, cell=None):
        if cell is None:  # %quasar x+1
            _open()
            return _bridge._evaluate(line)
        return _cell(shell, line, cell)
    quasar.__doc__ = _cell.__doc__
    shell.register_magic_function(quasar, "line_cell")
