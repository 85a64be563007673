"""Write the site: ``python -m explorer.site OUT [--source ADDRESS]``."""

import argparse
from pathlib import Path

from explorer.site import write


def main() -> None:
    """Write all files into a folder, and say how large they are."""
    options = argparse.ArgumentParser(prog="python -m explorer.site", description=__doc__)
    options.add_argument("out", type=Path, help="the folder, which is made where there is none")
    options.add_argument("--source", default="", help="address of the project, to be linked to")
    given = options.parse_args()
    write(given.out, source=given.source)
    sizes = [path.stat().st_size for path in given.out.rglob("*") if path.is_file()]
    print(f"{len(sizes)} files, {sum(sizes) / 1e6:.1f} MB: open {given.out / 'index.html'}")


if __name__ == "__main__":
    main()
