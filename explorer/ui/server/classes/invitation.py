"""Invitations to a class, as an address short enough to type and a QR code."""

from typing import Any
from urllib.parse import urlsplit

import segno

from explorer.ui.server.classes.codes import format_code

ENTRY_PATH = "c"  # the path of the page for typing a code; /c/CODE is a class's address
MAX_ADDRESS_LENGTH = 200


def make_invitation(identity: str, base: str) -> dict[str, Any]:
    """Return a class's code and address, the address for typing the code, and a QR code as an SVG path.

    The keys are ``code``, ``address``, ``entry`` and ``path``; ``size`` is the width of the QR code with
    margins. Raises ValueError if ``base`` is not an address.

    Args:
        identity: the class's id.
        base: the address of the explorer in the teacher's browser, with a final slash. The browser sends it
            because a proxy may have added a prefix to our paths.
    """
    if (
        len(base) > MAX_ADDRESS_LENGTH
        or urlsplit(base).scheme not in ("http", "https")
        or not base.endswith("/")
    ):
        raise ValueError("This is not the address of a Gradient explorer: use the one in the address bar.")
    code = format_code(identity)
    address = f"{base}{ENTRY_PATH}/{code}"
    symbol = segno.make(address, error="m", micro=False)
    margin = symbol.default_border_size
    dark = [
        f"M{column + margin} {row + margin}h1v1h-1z"
        for row, line in enumerate(symbol.matrix)
        for column, module in enumerate(line)
        if module
    ]
    size = symbol.symbol_size()[0]
    return {
        "code": code,
        "address": address,
        "entry": f"{base}{ENTRY_PATH}",
        "size": size,
        "path": "".join(dark),
    }
