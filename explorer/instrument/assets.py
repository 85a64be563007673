"""The page's static files, at addresses that change whenever a file changes."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from explorer.instrument import bundle
from explorer.instrument.drawing import find_plotly
from explorer.instrument.modules import MODULES, list_sources, resolve_path

_FOLDER = Path(__file__).parent
_TOKENS = MODULES / "elements" / "tokens.css"
PLOTLY = find_plotly()[0]  # contains the version, so that browsers can cache the file forever
FIRST_MODULE = "pages/mount.js"  # the module that every page loads first
LATER = resolve_path(FIRST_MODULE, bundle.LATER)  # the file with the modules that are loaded later
STYLE = "style.css"
_TYPES = {".js": "text/javascript", ".css": "text/css", ".json": "application/json"}


@dataclass(frozen=True)
class Asset:
    """A static file for the browser: its content and its media type."""

    content: bytes
    media_type: str

    @cached_property
    def etag(self) -> str:
        """A hash of the file's content, for the HTTP header ETag."""
        return hashlib.sha256(self.content).hexdigest()[:16]


def make_assets(document: Mapping[str, Any]) -> dict[str, Asset]:
    """Return the static files of a page (modules, CSS, data and plotly.js).

    The result is a dict from addresses below ``assets/`` to files.
    """
    files = {name: text.encode() for name, text in bundle.bundle_modules(FIRST_MODULE).items()}
    files[STYLE] = read_style_sheets().encode()
    files["document.json"] = json.dumps(document, separators=(",", ":")).encode()
    digest = hashlib.sha256()
    for name, content in sorted(files.items()):
        digest.update(f"{name} {len(content)} ".encode() + content)
    folder = digest.hexdigest()[:16]
    below = {f"{folder}/{name}": Asset(content, _TYPES[Path(name).suffix]) for name, content in files.items()}
    return below | {PLOTLY: Asset(find_plotly()[1], _TYPES[".js"])}


def read_skeleton_css() -> str:
    """Return the CSS for the head of a page: sizes, colours and layout."""
    return "\n".join(sheet.read_text(encoding="utf-8") for sheet in (_TOKENS, _FOLDER / "skeleton.css"))


def read_style_sheets() -> str:
    """Return all CSS except that for the head of a page, as one text."""
    return "\n".join(sheet.read_text(encoding="utf-8") for sheet in list_sources("css") if sheet != _TOKENS)


def read_skeleton(part: str) -> str:
    """Return the initial HTML of a part of a page (instrument, cards, heading), which scripts fill."""
    return (_FOLDER / f"{part}.html").read_text(encoding="utf-8")


def to_script_json(data: Any) -> str:
    """Return data as JSON that is safe inside an HTML script element."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
