"""The files of the instrument, under one address that changes whenever one of them does."""

import gzip
import hashlib
import json
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from explorer.instrument.drawing import drawing

_FOLDER = Path(__file__).parent
MODULES = _FOLDER.parent / "frontend"
_IMPORTED = re.compile(r'\bfrom "(\.[\w./-]+\.js)"')
PLOTLY = drawing()[0]  # its version is in the name, so it may be kept for ever
_TYPES = {".js": "text/javascript", ".css": "text/css", ".json": "application/json"}


@dataclass(frozen=True)
class Asset:
    """A file as it is sent: its bytes, its media type, and the bytes compressed."""

    content: bytes
    media_type: str

    @cached_property
    def etag(self) -> str:
        """A hash of the content."""
        return hashlib.sha256(self.content).hexdigest()[:16]

    @cached_property
    def compressed(self) -> bytes:
        """The content in gzip's format."""
        return gzip.compress(self.content, mtime=0)


def assets(document: Mapping[str, Any]) -> dict[str, Asset]:
    """Every file by its address below ``assets/``: modules, style, the document and plotly.js."""
    files = {path.relative_to(MODULES).as_posix(): path.read_bytes() for path in sources("js", "css")}
    files["document.json"] = json.dumps(document, separators=(",", ":")).encode()
    digest = hashlib.sha256()
    for name, content in sorted(files.items()):
        digest.update(f"{name} {len(content)} ".encode() + content)
    folder = digest.hexdigest()[:16]
    below = {f"{folder}/{name}": Asset(content, _TYPES[Path(name).suffix]) for name, content in files.items()}
    return below | {PLOTLY: Asset(drawing()[1], _TYPES[".js"])}


def with_imports(*names: str) -> list[str]:
    """Modules with all they import, each once; modules loaded later, by ``import(…)``, are left out.

    ``names`` are paths below ``explorer/frontend``, such as ``"pages/mount.js"``.
    """
    modules = list(names)
    for name in modules:  # it grows
        text = (MODULES / name).read_text(encoding="utf-8")
        imported = dict.fromkeys(beside(name, path) for path in _IMPORTED.findall(text))
        modules += [other for other in imported if other not in modules]
    return modules


def sources(*suffixes: str) -> list[Path]:
    """The files of all folders that end in one of the suffixes, such as ``"css"``, in order."""
    return sorted(path for suffix in suffixes for path in MODULES.rglob(f"*.{suffix}"))


def beside(module: str, path: str) -> str:
    """The module at a relative path, such as ``"../formula/curves.js"``, from there."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(module), path))


def skeleton_css() -> str:
    """Where everything stands, for the head of a page."""
    return (_FOLDER / "skeleton.css").read_text(encoding="utf-8")


def skeleton(part: str) -> str:
    """The places of a part of a page (instrument, cards, heading) that its modules fill."""
    return (_FOLDER / f"{part}.html").read_text(encoding="utf-8")


def json_text(data: Any) -> str:
    """JSON that cannot end the element it stands in."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
