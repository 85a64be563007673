"""Write the site: ``python -m explorer.site OUT [--source ADDRESS]``."""

import argparse
import os
from pathlib import Path

from explorer.site import python, write


def main() -> None:
    """Write all files of the site into a folder, and print their number and total size."""
    options = argparse.ArgumentParser(prog="python -m explorer.site", description=__doc__)
    options.add_argument("out", type=Path, help="the output folder, created if missing")
    options.add_argument("--source", default="", help="address of the project, to be linked to")
    options.add_argument(
        "--pyodide",
        type=Path,
        default=python.PYODIDE,
        help="the folder of Pyodide as npm installs it, with which the browser reads own formulas",
    )
    options.add_argument(
        "--processes", type=int, default=os.cpu_count() or 1, help="how many compute it; else all cores"
    )
    arguments = options.parse_args()
    if arguments.processes < 1:
        options.error("at least one process has to compute it")
    write(arguments.out, source=arguments.source, pyodide=arguments.pyodide, processes=arguments.processes)
    sizes = [path.stat().st_size for path in arguments.out.rglob("*") if path.is_file()]
    if not python.read_version(arguments.pyodide):
        print(
            f"Own formulas need the app: there is no Pyodide in {arguments.pyodide} (npm install brings it)"
        )
    print(f"{len(sizes)} files, {sum(sizes) / 1e6:.1f} MB: open {arguments.out / 'index.html'}")


if __name__ == "__main__":
    main()
