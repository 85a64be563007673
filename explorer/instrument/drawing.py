"""Plotly as the site has it: with lines and little else, in the smallest file that is there."""

import json
import re
from functools import cache
from pathlib import Path

from explorer.instrument.assets import PLOTLY, plotly_js
from explorer.site.python import ROOT

BASIC = ROOT / "node_modules" / "plotly.js-basic-dist-min"
_VERSION = re.compile(rb"plotly\.js v([\d.]+)")


def version() -> str:
    """The version of plotly.js that the plotly package ships."""
    found = _VERSION.search(plotly_js())
    assert found, "plotly.js no longer says its version"
    return found[1].decode()


@cache
def drawing(basic: Path = BASIC) -> tuple[str, bytes]:
    """The name of a file, which changes with what is in it, and plotly.js with few kinds of traces.

    npm brings a bundle of a quarter of the size (``basic``: its folder). Where it is not there, or of another
    version than the plotly package's, the app's stands in.
    """
    package = basic / "package.json"
    if package.is_file() and json.loads(package.read_text(encoding="utf-8"))["version"] == version():
        return f"plotly-basic-{version()}.min.js", (basic / "plotly-basic.min.js").read_bytes()
    return PLOTLY, plotly_js()
