"""How far a tool is: on a terminal in one line, which is written over; elsewhere in a line for every tenth, but not
more than one in ten seconds, so that what ends soon says nothing.

    with Progress("loops") as p:
        for i, x in enumerate(work):
            p.at(i, len(work))            # or seconds of seconds
            …
            p.say("x differs")            # a line of the report, which stays"""
import sys, time

APART = {True: 0.1, False: 10}  # seconds between two lines, on a terminal and elsewhere


def span(seconds):
    minutes = int(seconds/60 + 0.5)
    return f"{seconds:.0f} s" if seconds < 99.5 else f"{minutes} min" if minutes < 100 else f"{minutes/60:.1f} h"


class Progress:
    def __init__(self, name, unit=""):
        self.name, self.unit = name, unit
        self.terminal = sys.stderr.isatty()
        self.begun = self.told = time.monotonic()
        self.tenth = 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.clear()

    def at(self, done, of, note=""):
        """`done` of `of` things, or seconds where the unit is "s".  of None: nobody knows, which is told on a terminal
        alone."""
        now, part = time.monotonic(), min(done/of, 1) if of else 0
        if now - self.told < APART[self.terminal] or not (self.terminal or int(10*part) > self.tenth):
            return
        self.told, self.tenth = now, int(10*part)
        line = "  ".join([f"{self.name}: {100*part:.0f} %" if of else f"{self.name}: {done}",
                          *self.details(done, of, part, now - self.begun), *[note]*bool(note)])
        print(f"\r{line}\033[K" if self.terminal else line, end="" if self.terminal else "\n", file=sys.stderr,
              flush=True)

    def details(self, done, of, part, took):
        timed = self.unit == "s"
        if of and not timed:
            yield f"{done}/{of}"
        if done and self.unit and not timed:
            yield f"{done/took:.3g} {self.unit}/s"
        if part:
            yield f"{span(of - done if timed else took*(1/part - 1))} left"

    def clear(self):
        if self.terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)

    def say(self, *words):
        self.clear()
        print(*words, flush=True)
