"""The files of the instrument, under one address that changes whenever one of them does."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from explorer.instrument import bundle
from explorer.instrument.drawing import drawing
from explorer.instrument.modules import MODULES, beside, sources

_FOLDER = Path(__file__).parent
_TOKENS = MODULES / "elements" / "tokens.css"
PLOTLY = drawing()[0]  # its version is in the name, so it may be kept for ever
FIRST_MODULE = "pages/mount.js"  # of every page
LATER = beside(FIRST_MODULE, bundle.LATER)  # all modules of the pages that are not the first
STYLE = "style.css"
_TYPES = {".js": "text/javascript", ".css": "text/css", ".json": "application/json"}


@dataclass(frozen=True)
class Asset:
    """A file of the browser: its bytes and its media type."""

    content: bytes
    media_type: str

    @cached_property
    def etag(self) -> str:
        """A hash of the content."""
        return hashlib.sha256(self.content).hexdigest()[:16]


def assets(document: Mapping[str, Any]) -> dict[str, Asset]:
    """Every file by its address below ``assets/``: modules, style, the document and plotly.js."""
    files = {name: text.encode() for name, text in bundle.bundled(FIRST_MODULE).items()}
    files[STYLE] = sheets_css().encode()
    files["document.json"] = json.dumps(document, separators=(",", ":")).encode()
    digest = hashlib.sha256()
    for name, content in sorted(files.items()):
        digest.update(f"{name} {len(content)} ".encode() + content)
    folder = digest.hexdigest()[:16]
    below = {f"{folder}/{name}": Asset(content, _TYPES[Path(name).suffix]) for name, content in files.items()}
    return below | {PLOTLY: Asset(drawing()[1], _TYPES[".js"])}


def skeleton_css() -> str:
    """Return sizes, colours and where everything stands, for the head of a page."""
    return "\n".join(sheet.read_text(encoding="utf-8") for sheet in (_TOKENS, _FOLDER / "skeleton.css"))


def sheets_css() -> str:
    """Return all style sheets but those of the head."""
    return "\n".join(sheet.read_text(encoding="utf-8") for sheet in sources("css") if sheet != _TOKENS)


def skeleton(part: str) -> str:
    """The places of a part of a page (instrument, cards, heading) that its modules fill."""
    return (_FOLDER / f"{part}.html").read_text(encoding="utf-8")


def json_text(data: Any) -> str:
    """JSON that cannot end the element it stands in."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
