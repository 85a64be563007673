"""Pure Python packages for the browser: the code formatter black, and the converter of formulas."""

import re
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution

FORMATTER, CONVERTER = "black", "latex2mathml"
_NAME = re.compile(r"[\w.-]+")
_EXCLUDED = ("blackd/", "vim")  # parts of black that it does not import itself: a server and an editor plugin


def pack_package(name: str) -> dict[str, str]:
    """Return the files of a package as a dict from paths to contents.

    These are its modules, the files that they read, and licences. The distributions that the package requires
    are included, without their extras.
    """
    return {path: text for each in _list_distributions(name) for path, text in _read_texts(each)}


def _list_distributions(name: str) -> list[Distribution]:
    names = [name]
    for each in names:  # names are appended during the loop
        required = [other for other in distribution(each).requires or () if ";" not in other]
        names += [other for line in required for other in _NAME.findall(line)[:1] if other not in names]
    return [distribution(each) for each in names]


def _read_texts(package: Distribution) -> Iterator[tuple[str, str]]:
    files = [path for path in package.files or () if not str(path).startswith(_EXCLUDED)]
    licences = [path for path in files if path.name.startswith("LICENSE")]
    licences = licences or [path for path in files if path.name == "METADATA"]  # otherwise METADATA names it
    for path in files:
        is_code = path.suffix in (".py", ".txt") and not path.parts[0].endswith(".dist-info")
        if is_code or path in licences:
            yield str(path), path.read_text(encoding="utf-8")
