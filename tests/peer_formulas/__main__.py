"""The table of the catalogue beside other libraries: ``python -m tests.peer_formulas docs/peers.md``.

Ends with 1 where a pair is not what it says.
"""

import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

from tests.peer_formulas.comparing import POINTS, compared
from tests.peer_formulas.pairs import PAIRS

_HEAD = """# Comparison with other libraries

Functions of other libraries, each compared with the equivalent op and rule of [the
catalogue](catalogue.md): values and gradients at {points:,} even x and all quarters up to 4, in
float32, for random upstream gradients. `sh tests/peers` installs the libraries in a separate
environment and writes this page; it fails if a row is out of date. Libraries that do not install
are listed as not compared.

Measured with {versions}.

<!-- prettier-ignore -->
| library | its function | op | rule | parameters | |
|---|---|---|---|---|---|
"""


def main(path: str) -> int:
    """Writes the page, and prints the pairs that are not what they say."""
    rows, wrong = [], []
    for pair in PAIRS:
        words, is_as_said = compared(pair)
        given = ", ".join(f"{name} = {value:g}" for name, value in pair.parameters.items()).replace("-", "−")
        words += f". {pair.differs}" if pair.differs else ""
        cells = pair.library, f"`{pair.name}`", f"`{pair.op}`", f"`{pair.rule}`" if pair.rule else "", given
        rows.append(f"| {' | '.join([*cells, words])} |")
        if not is_as_said:
            wrong.append(f"{pair.library} {pair.name}: {words}")
    text = _HEAD.format(points=POINTS, versions=_versions()) + "\n".join(rows) + "\n"
    Path(path).write_text(text, encoding="utf-8")
    print(f"{len(PAIRS)} functions compared, {len(wrong)} otherwise than said", *wrong, sep="\n")
    return int(bool(wrong))


def _versions() -> str:
    named = [f"torch {torch.__version__.partition('+')[0]}"]
    for library in dict.fromkeys(pair.library for pair in PAIRS):
        try:
            named.append(f"{library} {version(library.lower())}")
        except PackageNotFoundError:
            named.append(f"no {library}, which is not installed")
    return f"{', '.join(named[:-1])} and {named[-1]}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
