"""Debian's nginx with the configuration of the project, on ports of its own."""

import functools
import http.client
import os
import re
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.browser.server import ROOT, free_port

CONFIGURATION = ROOT / "deploy" / "nginx.conf"
GUIDE = ROOT / "docs" / "deploy.md"
PREFIX = "/tools/explorer"
DEADLINE_S = 2
Answer = http.client.HTTPResponse
_BINARIES = ("/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx")


def binary() -> str | None:
    """nginx, where it is installed; Debian has it where only root looks."""
    return next((path for path in _BINARIES if os.access(path, os.X_OK)), None)


@contextmanager
def proxy(folder: Path, first: int, second: int) -> Iterator[tuple[int, int]]:
    """nginx before two ports, below the prefix of the guide; its ports for TLS and without."""
    tls, plain = free_port(), free_port()
    certify(folder)
    local = {
        "/tmp/": f"{folder}/", "listen 8443": f"listen 127.0.0.1:{tls}",
        "listen 8080": f"listen 127.0.0.1:{plain}", "first:8501": f"127.0.0.1:{first}",
        "second:8501": f"127.0.0.1:{second}", "/etc/nginx/certificate": str(folder),
        "client_header_timeout 10s": f"client_header_timeout {DEADLINE_S}s",
        "client_body_timeout 10s": f"client_body_timeout {DEADLINE_S}s",
    }  # fmt: skip
    (folder / "nginx.conf").write_text(replaced(CONFIGURATION.read_text("utf-8"), local | below_a_prefix()))
    as_us = ["-g", "user root;"] if os.getuid() == 0 else []
    nginx = [str(binary()), "-p", str(folder), "-c", str(folder / "nginx.conf"), *as_us]
    with (folder / "nginx.log").open("wb") as log:
        subprocess.run(nginx, check=True, stderr=log)  # it listens when this returns
    try:
        yield tls, plain
    finally:
        subprocess.run([*nginx, "-s", "stop"], check=True, capture_output=True)


def certify(folder: Path) -> None:
    """Put a certificate for a day there."""
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost"]
    files = ["-keyout", str(folder / "privkey.pem"), "-out", str(folder / "fullchain.pem")]
    subprocess.run([*made, *files], check=True, capture_output=True)


def replaced(text: str, changes: dict[str, str]) -> str:
    """A text with changes, each of which must find its place."""
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


def below_a_prefix() -> dict[str, str]:
    """The change of the configuration that the guide names for a prefix."""
    new, old = re.findall(r"```nginx\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)[:2]
    return {_indented(old): _indented(new)}


def _indented(lines: str) -> str:
    return "".join(f"{' ' * 8}{line}\n" for line in lines.splitlines())


class Client:
    """A browser that asks the proxy, at its port with TLS, below the prefix; it keeps its cookies."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.cookies: dict[str, str] = {}
        self._open: list[Answer | http.client.HTTPSConnection] = []

    def close(self) -> None:
        """Leave, whatever has not been told yet."""
        for each in self._open:
            each.close()

    def ask(self, path: str, **headers: str) -> Answer:
        connection = http.client.HTTPSConnection("localhost", self._port, context=trusting(), timeout=20)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.cookies:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        connection.request("GET", PREFIX + path, headers=sent)
        answer = connection.getresponse()
        self._open += [answer, connection]
        for text in answer.headers.get_all("set-cookie") or []:
            self.cookies.update([text.partition(";")[0].split("=", 1)])
        return answer


@functools.cache  # a context takes 0.1 s
def trusting() -> ssl.SSLContext:
    """TLS with whoever shows a certificate: the proxy's is its own."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context
