#!/usr/bin/env python3
"""The prompt as a person meets it, on a terminal: what is typed arrives whole, what is unfinished can be dropped, what
runs can be stopped, what is large is shown in short; completion and history, where libedit is here."""
import argparse, ctypes.util, os, pty, select, signal, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
UP, TAB, CTRL_C, CTRL_D = "\x1b[A", "\t", "\x03", "\x04"


class Terminal:
    def __init__(self, qrun, home, seconds):
        self.seconds, self.seen = seconds, ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="dumb", HOME=home)
            os.execv(qrun, [qrun, "--device", "ref"])
        self.until("> ")

    def until(self, wanted):
        """The output up to and including `wanted`."""
        end = time.time() + self.seconds
        while wanted not in self.seen:
            ready = select.select([self.fd], [], [], max(0, end - time.time()))[0]
            if not ready:
                raise AssertionError("waited for %r, got %r" % (wanted, self.seen))
            try:
                self.seen += os.read(self.fd, 65536).decode(errors="replace")
            except OSError:  # the other side is gone
                raise AssertionError("waited for %r, got %r and the end" % (wanted, self.seen))
        before, self.seen = self.seen.split(wanted, 1)
        return before + wanted

    def send(self, text):
        if ord(text[0]) < 32:  # a key that means something else before the prompt has taken over the terminal
            time.sleep(0.3)
        os.write(self.fd, text.encode())

    def type(self, text, wanted):
        self.send(text)
        return self.until(wanted)

    def end(self, text, status):
        self.send(text)
        end = time.time() + self.seconds
        pid, how = os.waitpid(self.pid, os.WNOHANG)
        while not pid and time.time() < end:
            time.sleep(0.05)
            pid, how = os.waitpid(self.pid, os.WNOHANG)
        if not pid:
            os.kill(self.pid, signal.SIGKILL)
        assert pid and os.WEXITSTATUS(how) == status, (pid, how)


def typing(t):
    t.type('print "<" + "é π" + ">"\n', "<é π>")
    t.type("1 +\n", "... ")
    t.type("41\n", "42\r\n> ")
    t.type("prnt(1)\n", "did you mean 'print'?")
    t.type("pirnt 1\n", "(did you mean 'print'?)")
    # pasted with tabs, which complete nothing
    t.type("function y = pasted(x)\n\tif x > 1\n\t\ty = 20\n\n\telse\n\t\ty = 10\n\tend\nend\n", "> ")
    t.type("pasted(3) + 3\n", "23\r\n> ")
    assert len(t.type("zeros(4096,4096)\n", "(4096x4096 float32)")) < 1000
    t.type("?imfilter\n", "It is in imfilter.q, which its first call loads.")
    t.type("?pos\n", "The position at which the kernel runs.")
    t.type("sqrt?\n", "Square root; nan for negative real numbers.")


def stopping(t):
    t.type("if true\n", "... ")
    t.type(CTRL_C, "> ")
    t.type('print 40+2, "!"\n', "42!")
    for wait in ("while true\nend", "s = 0; for i = 1..1e12; s += i; end", "sleep(1e6)"):
        t.type(wait + "\n", "\n")
        time.sleep(0.5)
        t.type(CTRL_C, "interrupted\r\n> ")
    t.type("half a li", "half a li")
    t.type(CTRL_C, "> ")
    t.type("5*5\n", "25\r\n> ")


def completion(t):
    t.type("squared_" + TAB + "([3,4])\n", "25\r\n> ")
    t.type("hammi" + TAB + "(3)\n", "[0.08,1,0.08]\r\n> ")
    t.type("o = object(); o.height = 7\n", "> ")
    t.type("o.hei" + TAB + "*2\n", "14\r\n> ")
    assert "error" not in t.type('import "imfi' + TAB + '"\n', "\n> ")
    t.type('n = isfile("' + ROOT + "/tests/termi" + TAB + '")\n', "\n> ")
    t.type("n + 41\n", "42\r\n> ")
    t.type("?\n", "imfilter")
    t.type("for i = 1..2\n", "... ")
    t.type("    print 50*i + 3\n", "... ")
    t.type("end\n", "103\r\n> ")
    t.type("last = 11*11\n", "> ")


def history(t):
    os.write(t.fd, UP.encode())
    t.type(" + 1000\n", "> ")
    t.type("last\n", "1121\r\n> ")
    os.write(t.fd, (4*UP).encode())  # a block comes back as a whole, to be run at once
    t.type("\n", "103\r\n> ")


HOOK = """
import ctypes, pyquasar as q
calls = 0
@ctypes.CFUNCTYPE(ctypes.c_int)
def serve():
    global calls
    calls += 1
    q.sleep(1)
    return 0
ctypes.c_void_p.in_dll(ctypes.pythonapi, "PyOS_InputHook").value = ctypes.cast(serve, ctypes.c_void_p).value
"""


def hook(t, home):
    """Python code that serves windows while the prompt waits may itself wait in the machine."""
    with open(os.path.join(home, "served.py"), "w") as f:
        f.write(HOOK)
    found = t.type('pyimport("sys").path.insert(0, "%s"); served = pyimport("served"); print "ready"\n' % home, "> ")
    if "ready" not in found.split("\n", 1)[-1]:
        return False
    for i in range(3):
        t.type("print 40+%d\n" % i, "4%d\r\n> " % i)
    t.type("print served.calls > 2\n", "1\r\n> ")
    return True


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--qrun", default=os.path.join(ROOT, "build/qrun"))
    p.add_argument("--slow", type=float, default=1)
    args = p.parse_args()
    qrun, seconds, edits = os.path.abspath(args.qrun), 20 * args.slow, ctypes.util.find_library("edit") is not None
    with tempfile.TemporaryDirectory() as home:
        t = Terminal(qrun, home, seconds)
        typing(t)
        stopping(t)
        if edits:
            completion(t)
        t.end(CTRL_D, 0)
        t = Terminal(qrun, home, seconds)
        if edits:
            history(t)
        t.end("exit(7)\n", 7)
        t = Terminal(qrun, home, seconds)
        hooked = hook(t, home)
        t.end(CTRL_D, 0)
    print("terminal: passed" + ("" if edits else "; completion and history not tried, libedit is not here") +
          ("" if hooked else "; waits in Python's input hook not tried, pyimport does not work here"))


if __name__ == "__main__":
    main()
