"""The formatter of code as plain Python for the browser: black, and the packages that it needs."""

import re
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution

FORMATTER = "black"
_NAME = re.compile(r"[\w.-]+")
_LEFT_OUT = ("blackd/", "vim")  # a server and an editor's part, which nothing of black imports


def formatter() -> dict[str, str]:
    """The texts of all modules by their paths, of the files that they read, and of the licences."""
    return {path: text for each in _needed() for path, text in _texts(each)}


def _needed() -> list[Distribution]:
    """Black and all that it requires, extras left out."""
    names = [FORMATTER]
    for name in names:  # it grows
        required = [each for each in distribution(name).requires or () if ";" not in each]
        names += [other for each in required for other in _NAME.findall(each)[:1] if other not in names]
    return [distribution(name) for name in names]


def _texts(package: Distribution) -> Iterator[tuple[str, str]]:
    for path in package.files or ():
        is_code = path.suffix in (".py", ".txt") and not path.parts[0].endswith(".dist-info")
        if (is_code or path.name.startswith("LICENSE")) and not str(path).startswith(_LEFT_OUT):
            yield str(path), path.read_text(encoding="utf-8")
