"""Find the smallest available plotly.js file that can draw lines."""

import json
import re
from functools import cache
from pathlib import Path

import plotly

_NAME = "plotly.js-basic-dist-min"
_FOLDERS = (Path(__file__).parent / _NAME, Path(__file__).parents[2] / "node_modules" / _NAME)
BASIC = next(filter(Path.is_dir, _FOLDERS), _FOLDERS[1])  # of an installed package, or from npm
LINES = f"plotly-lines-{plotly.__version__}.min.js"
# matches the call in plotly.js that registers all trace types
_TRACES = re.compile(r"\.register\(\[(?:[\w$]+\(\),)+[\w$]+\(\)\]\)")
_VERSION = re.compile(rb"plotly\.js v([\d.]+)")


@cache
def find_plotly(basic: Path = BASIC) -> tuple[str, bytes]:
    """Return plotly.js with few trace types, and a file name that changes with its content.

    The basic bundle from npm has a quarter of the size. ``basic`` is its folder, which a wheel contains. If
    it is missing, or its version differs from the plotly package's, the package's own file is used.
    """
    package = basic / "package.json"
    if package.is_file() and json.loads(package.read_text(encoding="utf-8"))["version"] == find_version():
        return f"plotly-basic-{find_version()}.min.js", (basic / "plotly-basic.min.js").read_bytes()
    return LINES, read_plotly_lines()


def find_version() -> str:
    """Return the version of plotly.js that the plotly package contains."""
    match = _VERSION.search(read_plotly_lines())
    assert match, "plotly.js no longer states its version"
    return match[1].decode()


@cache
def read_plotly_lines() -> bytes:
    """Return plotly.js from the plotly package, with lines as the only trace type.

    Setting up the other forty-six types takes most of the start-up time in a browser. A version that does not
    register them in one place is returned unchanged.
    """
    text = (Path(plotly.__file__).parent / "package_data" / "plotly.min.js").read_text(encoding="utf-8")
    kinds = list(_TRACES.finditer(text))
    if len(kinds) != 1:
        return text.encode()
    return f"{text[: kinds[0].start()]}.register([]){text[kinds[0].end() :]}".encode()
