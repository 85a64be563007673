"""Invitations to a class: an address short enough to type, and its QR code."""

from typing import Any
from urllib.parse import urlsplit

import segno

from explorer.ui.server.classes.codes import format_code

ENTRY_PATH = "c"  # path of the page for typing a code, and prefix of the path of a code
MAX_ADDRESS_LENGTH = 200


def make_invitation(identity: str, base: str) -> dict[str, Any]:
    """Return the code, its address and a QR code as an SVG path; ``size`` is its width with margins.

    Raises ValueError if ``base`` is not an address.

    Args:
        identity: the class's id.
        base: the address of the explorer in the teacher's browser, with a final slash; a proxy may have added
            a prefix to our paths.
    """
    if (
        len(base) > MAX_ADDRESS_LENGTH
        or urlsplit(base).scheme not in ("http", "https")
        or not base.endswith("/")
    ):
        raise ValueError("This is not the address of an explorer.")
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
