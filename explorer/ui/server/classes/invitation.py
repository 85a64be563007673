"""The way into a class: an address short enough to type, and its QR code."""

from typing import Any
from urllib.parse import urlsplit

import segno

from explorer.ui.server.classes.codes import written

ENTRY = "c"  # the path of the page that a code is typed into, and what a code stands below
LONGEST_ADDRESS = 200


def invitation(identity: str, base: str) -> dict[str, Any]:
    """The code, the address and its QR code, as the path of an SVG of ``size`` units with its margin.

    ``base`` is the address of the explorer as its teacher's browser knows it, with a slash at the end: a
    proxy may have put something before our paths. Raises ValueError where it is no address.
    """
    if (
        len(base) > LONGEST_ADDRESS
        or urlsplit(base).scheme not in ("http", "https")
        or not base.endswith("/")
    ):
        raise ValueError("This is not the address of an explorer.")
    code = written(identity)
    address = f"{base}{ENTRY}/{code}"
    symbol = segno.make(address, error="m", micro=False)
    margin = symbol.default_border_size
    dark = [
        f"M{column + margin} {row + margin}h1v1h-1z"
        for row, line in enumerate(symbol.matrix)
        for column, module in enumerate(line)
        if module
    ]
    size = symbol.symbol_size()[0]
    return {"code": code, "address": address, "entry": f"{base}{ENTRY}", "size": size, "path": "".join(dark)}
