"""The published package: its version, what changed in it, and the torch that it works with."""

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_newest_entry_of_the_changes_is_this_version():
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## (\S+?),? ", changes, flags=re.MULTILINE)
    assert versions[0] == PROJECT["version"]
    assert sorted(versions, key=Version, reverse=True) == versions


def test_every_page_that_names_the_torch_that_works_is_right():
    (torch,) = (r for r in map(Requirement, PROJECT["dependencies"]) if r.name == "torch")
    bounds = {bound.operator: Version(bound.version) for bound in torch.specifier}
    lowest, beyond = bounds[">="], bounds["<"]
    newest = f"{beyond.major}.{beyond.minor - 1}"
    named = {path.name: _torches(path) for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"))}
    assert {name for name, versions in named.items() if versions} == {
        "README.md", "library.md", "CHANGELOG.md",
    }  # fmt: skip
    assert {version for versions in named.values() for version in versions} == {(str(lowest), newest)}


def _torches(path: Path) -> list[tuple[str, str]]:
    """The ranges of torch's versions that a page names."""
    return re.findall(r"torch ([\d.]+\d) to ([\d.]+\d)", path.read_text(encoding="utf-8"))
