"""plotly.js with lines and little else, in the smallest file that is there."""

import json
import re
from functools import cache
from pathlib import Path

import plotly

_NAME = "plotly.js-basic-dist-min"
_FOLDERS = (Path(__file__).parent / _NAME, Path(__file__).parents[2] / "node_modules" / _NAME)
BASIC = next(filter(Path.is_dir, _FOLDERS), _FOLDERS[1])  # of an installed package, or of npm
LINES = f"plotly-lines-{plotly.__version__}.min.js"
_TRACES = re.compile(r"\.register\(\[(?:[\w$]+\(\),)+[\w$]+\(\)\]\)")  # of all kinds, at the end of plotly.js
_VERSION = re.compile(rb"plotly\.js v([\d.]+)")


@cache
def drawing(basic: Path = BASIC) -> tuple[str, bytes]:
    """The name of a file, which changes with what is in it, and plotly.js with few kinds of traces.

    npm brings a bundle of a quarter of the size (``basic``: its folder), and a wheel holds it. Where it is
    missing, or of another version than the plotly package's, that package's own stands in.
    """
    package = basic / "package.json"
    if package.is_file() and json.loads(package.read_text(encoding="utf-8"))["version"] == version():
        return f"plotly-basic-{version()}.min.js", (basic / "plotly-basic.min.js").read_bytes()
    return LINES, plotly_js()


def version() -> str:
    """The version of plotly.js that the plotly package ships."""
    version = _VERSION.search(plotly_js())
    assert version, "plotly.js no longer says its version"
    return version[1].decode()


@cache
def plotly_js() -> bytes:
    """plotly.js as the plotly package ships it, but with no kind of trace other than lines.

    Setting up the other forty-six takes most of the time in which a browser runs the whole. A version that
    does not register them in one place is left whole.
    """
    text = (Path(plotly.__file__).parent / "package_data" / "plotly.min.js").read_text(encoding="utf-8")
    kinds = list(_TRACES.finditer(text))
    if len(kinds) != 1:
        return text.encode()
    return f"{text[: kinds[0].start()]}.register([]){text[kinds[0].end() :]}".encode()
