"""How files reach the browser: compressed, kept, protected, or missing."""

import gzip
import re
import urllib.error
import urllib.request
from email.message import Message

import brotli

from explorer.instrument.assets import PLOTLY
from explorer.ui.server import files

DRAWING = f"/assets/{PLOTLY}"


def test_plotly_js_is_sent_compressed_and_cached(address: str) -> None:
    status, headers, body = fetch(address + DRAWING, {"Accept-Encoding": "gzip, br;q=0"})
    assert (status, headers["Content-Encoding"]) == (200, "gzip")
    _, of_brotli, smaller = fetch(address + DRAWING, {"Accept-Encoding": "gzip, deflate, br, zstd"})
    assert of_brotli["Content-Encoding"] == "br"
    assert len(smaller) < 0.93 * len(body)
    assert brotli.decompress(smaller) == gzip.decompress(body)
    assert 2 * len(body) < len(gzip.decompress(body))
    assert len(body) < 2_000_000
    assert "immutable" in headers["Cache-Control"]
    age = re.search(r"max-age=(\d+)", headers["Cache-Control"])
    assert age
    assert int(age[1]) >= 86_400
    status, _, plain = fetch(address + DRAWING, {})
    assert plain == gzip.decompress(body)
    status, _, nothing = fetch(address + DRAWING, {"If-None-Match": headers["ETag"]})
    assert (status, nothing) == (304, b"")


def test_the_front_end_is_sent_compressed_and_cached(address: str) -> None:
    names = re.findall(r'"\./(static/(?:js|css)/[^"]+)"', files.INDEX)
    assert len(names) > 20
    for name in names:
        packed = fetch(f"{address}/{name}", {"Accept-Encoding": "br"})
        plain = fetch(f"{address}/{name}", {})
        if len(plain[2]) > 1000:  # else there is nothing to gain
            assert packed[1]["Content-Encoding"] == "br"
            assert brotli.decompress(packed[2]) == plain[2]
        kind = "css" if name.endswith("css") else "javascript"
        for _, headers, _ in (packed, plain):
            assert headers["Content-Type"] == f"text/{kind}; charset=utf-8"
            assert "immutable" in headers["Cache-Control"]
            assert headers["Vary"] == "Accept-Encoding"
    font = re.search(r'"\./(static/media/[^"]+)"', files.INDEX)
    assert font
    assert fetch(f"{address}/{font[1]}", {"Accept-Encoding": "br"})[1]["Content-Encoding"] is None


def fetch(url: str, headers: dict[str, str]) -> tuple[int, Message, bytes]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=20) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers, error.read()


def test_answers_have_security_headers_and_missing_files_are_refused(address: str) -> None:
    for path in ("/", "/healthz", DRAWING):
        status, headers, _ = fetch(address + path, {})
        assert status == 200
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "same-origin"
    for name in ("../app.py", "%2e%2e/app.py", "document.json"):
        status, _, body = fetch(f"{address}/assets/{name}", {})
        assert (status in (400, 404), b"import" in body) == (True, False)
    assert fetch(f"{address}/assets/0123456789abcdef/choice/store.js", {})[0] == 404
