"""The content security policy of a page."""

import base64
import hashlib
import re
from collections.abc import Mapping

_INLINE = re.compile(r'<script(?: type="module")?>(.*?)</script>', re.DOTALL)


def make_policy(page: str, allowed: Mapping[str, str]) -> str:
    """Return a content security policy that allows the given sources and a page's inline scripts."""
    digests = (hashlib.sha256(script.encode()).digest() for script in _INLINE.findall(page))
    inline = [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]
    sources = {**allowed, "script-src": " ".join([allowed["script-src"], *inline])}
    return "; ".join(map(" ".join, sources.items()))
