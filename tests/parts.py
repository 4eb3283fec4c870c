#!/usr/bin/env python3
"""unittest in builds that leave out optional parts (CMake options QUASAR_WITH_…):  tests/parts.py discover -s FOLDER …

A test that fails because the build lacks a part, which the message of the language says, is skipped for that reason.
Programs with tests call main() instead of unittest.main()."""
import re, subprocess, sys, unittest

ABSENT = re.compile(r"this build has no [A-Za-z ]+ \(QUASAR_WITH_\w+\)")


class Result(unittest.TextTestResult):
    def _skips(self, test, err):
        found = ABSENT.search("".join(str(e) for e in (err[1], err[1].__cause__, err[1].__context__) if e))
        if found:
            self.addSkip(test, found[0])
        return found

    def addError(self, test, err):
        if not self._skips(test, err):
            super().addError(test, err)

    def addFailure(self, test, err):
        if not self._skips(test, err):
            super().addFailure(test, err)

    def addSubTest(self, test, subtest, err):
        if err is None or not self._skips(test, err):
            super().addSubTest(test, subtest, err)

    def printErrors(self):
        super().printErrors()
        for test, why in self.skipped:
            if ABSENT.search(why):
                self.stream.writeln(f"skipped, {why}: {test}")


def main(**options):
    unittest.main(testRunner=unittest.TextTestRunner(resultclass=Result), **options)


def end_without(qrun, option):
    """Ends the program with the reason if qrun was built without the part."""
    if subprocess.run([qrun, "--has", option]).returncode:
        called = re.sub("_", " ", option.replace("QUASAR_WITH_", "").lower())
        print(f"skipped: this build has no {called} ({option})")
        sys.exit(0)


if __name__ == "__main__":
    main(module=None)
