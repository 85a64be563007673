"""A step of the build: it adds the small plotly.js that npm has fetched, which git does not hold."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = "plotly.js-basic-dist-min"


class PackPlotly(BuildHookInterface[Any]):
    """A third of the bytes of the plotly package's file; without it that file stands in."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files to a wheel or an sdist; an editable install finds them where they are."""
        source = Path(self.root, "node_modules", FOLDER)
        if version != "editable" and source.is_dir():
            for name in ("package.json", "plotly-basic.min.js"):
                build_data["force_include"][str(source / name)] = f"explorer/instrument/{FOLDER}/{name}"
