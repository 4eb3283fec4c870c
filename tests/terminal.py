#!/usr/bin/env python3
"""The prompt as a person meets it, on a terminal: what is typed arrives whole, what is unfinished can be dropped, what
runs can be stopped, and what is large is shown in short."""
import argparse, os, pty, select, signal, sys, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Terminal:
    def __init__(self, qrun):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="dumb", HOME="/nonexistent")
            os.execv(qrun, [qrun, "--device", "ref"])

    def until(self, wanted, seconds):
        """What appears up to and with `wanted`."""
        seen, end = "", time.time() + seconds
        while wanted not in seen:
            ready = select.select([self.fd], [], [], max(0, end - time.time()))[0]
            if not ready:
                raise AssertionError("waited for %r, got %r" % (wanted, seen))
            try:
                seen += os.read(self.fd, 65536).decode(errors="replace")
            except OSError:  # the other side is gone
                raise AssertionError("waited for %r, got %r and the end" % (wanted, seen))
        return seen

    def type(self, text, wanted, seconds):
        os.write(self.fd, text.encode())
        return self.until(wanted, seconds)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--qrun", default=os.path.join(ROOT, "build/qrun"))
    p.add_argument("--slow", type=float, default=1)
    args = p.parse_args()
    t, seconds = Terminal(os.path.abspath(args.qrun)), 20 * args.slow
    t.until("> ", seconds)
    t.type('print "<" + "é π" + ">"\n', "<é π>", seconds)
    t.type("if true\n", "... ", seconds)
    t.type("\x03", "> ", seconds)
    t.type('print 40+2, "!"\n', "42!", seconds)
    t.type("while true\nend\n", "end", seconds)
    time.sleep(0.5)
    t.type("\x03", "interrupted", seconds)
    assert len(t.type("zeros(4096,4096)\n", "(4096x4096 float32)", seconds)) < 1000
    t.type("prnt(1)\n", "did you mean 'print'?", seconds)
    os.write(t.fd, b"exit(7)\n")
    status = os.waitpid(t.pid, 0)[1]
    assert os.WEXITSTATUS(status) == 7, status
    print("terminal: passed")


if __name__ == "__main__":
    main()
