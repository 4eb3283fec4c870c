#!/usr/bin/env python3
"""Writes to a folder what Debian needs besides the files of a package, from LICENSE, CHANGELOG.md and CMakeLists.txt:
deb.py OUT.  A development version 0.3.0.dev0 becomes 0.3.0~dev0, which Debian sorts before 0.3.0; its changes are the
section Unreleased."""
import datetime, gzip, os, re, sys, textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WHO = "The Quasar founders <maintainers@quasar.invalid>"


def read(name):
    return open(os.path.join(ROOT, name), encoding="utf-8").read()


def copyright_file():
    holder, text = re.search(r"Copyright \(c\) (.*?)\n\n(.*)", read("LICENSE"), re.S).groups()
    paragraphs = "\n".join(" " + (line or ".") for line in text.strip().splitlines())
    return ("Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\n"
            f"Files: *\nCopyright: {holder}\nLicense: Expat\n{paragraphs}\n")


def version():
    return re.search(r"^set\(QUASAR_VERSION (\S+)\)", read("CMakeLists.txt"), re.M)[1].replace(".dev", "~dev")


def changelog(version):
    """Returns the newest section of CHANGELOG.md as Debian formats it."""
    section = r"^## (\S+) \((.*?)\)\n(.*?)(?=^## |\Z)"
    heading, date, text = re.search(section, read("CHANGELOG.md"), re.S | re.M).groups()
    if heading == "Unreleased":
        date = datetime.date.today().isoformat()
    elif heading != version:
        sys.exit(f"CHANGELOG.md begins with {heading}, but CMakeLists.txt has {version}")
    when = datetime.datetime.fromisoformat(date).strftime("%a, %d %b %Y 12:00:00 +0000")
    items = [textwrap.fill(" ".join(part.split()), 76, initial_indent="  * ", subsequent_indent="    ")
             for part in re.findall(r"^- (.*?)(?=^- |^$|\Z)", text + "\n", re.S | re.M)]
    return f"quasar ({version}) unstable; urgency=medium\n\n" + "\n".join(items) + f"\n\n -- {WHO}  {when}\n"


def interface():
    return re.search(r"QUASAR_INTERFACE (\d+)", read("CMakeLists.txt"))[1]


def main():
    out, now = sys.argv[1], version()
    os.makedirs(out, exist_ok=True)
    for name, text in (("copyright", copyright_file()), ("triggers", "activate-noawait ldconfig\n"),
                       ("overrides", "# CPack writes these calls and cannot be told not to\n"
                        f"libquasar{interface()}: maintscript-calls-ldconfig *\n"),
                       ("shlibs", f"libquasar {interface()} libquasar{interface()} (>= {now})\n")):
        with open(os.path.join(out, name), "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(os.path.join(out, name), 0o644)
    with open(os.path.join(out, "changelog.gz"), "wb") as f:
        f.write(gzip.compress(changelog(now).encode(), 9, mtime=0))


main()
