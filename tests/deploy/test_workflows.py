"""The workflows: what zizmor does not ask. Every job ends, and a tag publishes its own version alone."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.files import ROOT

FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = {path.stem: yaml.safe_load(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.yml"))}


def jobs() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every job that runs steps of its own, by a name."""
    for name, workflow in WORKFLOWS.items():
        yield from ((f"{name} {key}", job) for key, job in workflow["jobs"].items() if "steps" in job)


@pytest.mark.parametrize("job", [pytest.param(job, id=name) for name, job in jobs()])
def test_every_job_ends(job: dict[str, Any]) -> None:
    assert job["timeout-minutes"] <= 90


def test_every_script_that_is_run_is_there() -> None:
    words = [word for _, job in jobs() for step in job["steps"] for word in step.get("run", "").split()]
    scripts = {word for word in words if word.startswith(("tests/", ".ci/"))}
    assert scripts == {".ci/run", "tests/image", "tests/release", "tests/torch"}
    assert all((ROOT / script).is_file() for script in scripts)


def test_nothing_is_published_before_it_is_tested() -> None:
    jobs_of_release = WORKFLOWS["release"]["jobs"]
    assert set(jobs_of_release["publish"]["needs"]) == {"build", "test"}
    assert jobs_of_release["test"]["uses"].endswith("/test.yml")
    assert "workflow_call" in WORKFLOWS["test"][True]  # what YAML makes of the word "on"


@pytest.mark.parametrize(
    ("tag", "entry", "fits"),
    [
        ("v1.2.3", "1.2.3, 2026-11-23", True), ("v1.2.4", "1.2.3, 2026-11-23", False),
        ("v1.2.3", "1.2.3, not yet published", False), ("v1.2.3", "1.2.2, 2026-11-23", False),
    ],
)  # fmt: skip
def test_a_tag_publishes_the_version_that_it_names(tag: str, entry: str, fits: bool, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "1.2.3"\n', "utf-8")
    (tmp_path / "CHANGELOG.md").write_text(f"# Changes\n\n## {entry}\n\nThe first.\n", "utf-8")
    runs = [step.get("run", "") for step in WORKFLOWS["release"]["jobs"]["build"]["steps"]]
    (script,) = (run for run in runs if "GITHUB_REF_NAME" in run)
    own = {"PATH": "/usr/bin:/bin", "GITHUB_REF_NAME": tag}
    ended = subprocess.run(["bash", "-e", "-c", script], cwd=tmp_path, env=own, check=False)
    assert (ended.returncode == 0) is fits
