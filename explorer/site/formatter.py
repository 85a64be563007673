"""The code formatter as plain Python for the browser: black, and the packages that it needs."""

import re
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution

FORMATTER = "black"
_NAME = re.compile(r"[\w.-]+")
_EXCLUDED = ("blackd/", "vim")  # a server and an editor plugin, which black does not import


def pack_formatter() -> dict[str, str]:
    """Return a dict from paths to contents for all modules, the files that they read, and the licences."""
    return {path: text for each in _list_distributions() for path, text in _read_texts(each)}


def _list_distributions() -> list[Distribution]:
    """Return black and all distributions that it requires, without extras."""
    names = [FORMATTER]
    for name in names:  # the list grows during the loop
        required = [each for each in distribution(name).requires or () if ";" not in each]
        names += [other for each in required for other in _NAME.findall(each)[:1] if other not in names]
    return [distribution(name) for name in names]


def _read_texts(package: Distribution) -> Iterator[tuple[str, str]]:
    for path in package.files or ():
        is_code = path.suffix in (".py", ".txt") and not path.parts[0].endswith(".dist-info")
        if (is_code or path.name.startswith("LICENSE")) and not str(path).startswith(_EXCLUDED):
            yield str(path), path.read_text(encoding="utf-8")
