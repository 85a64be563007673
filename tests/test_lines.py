"""The number of lines is held: whoever raises a limit says in the commit what the lines bought."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SLACK = 500  # a change that deletes more lines lowers the limit


def count_lines(paths: tuple[str, ...], suffixes: tuple[str, ...]) -> int:
    """Count the lines of some files and of the files in some folders, without the planted faults."""
    files = [file for path in paths for file in [ROOT / path, *(ROOT / path).rglob("*")] if file.is_file()]
    chosen = [file for file in files if file.suffix in suffixes and "faults" not in file.parts]
    return sum(file.read_text(encoding="utf-8").count("\n") for file in chosen)


@pytest.mark.parametrize(("paths", "suffixes", "limit"), [
    (("explorer", "app.py"), (".py", ".js", ".css"), 97_535),
    (("tests",), (".py", ".js", ".mjs"), 61_012),
])  # fmt: skip
def test_the_number_of_lines_stays_within_its_limit(
    paths: tuple[str, ...], suffixes: tuple[str, ...], limit: int
) -> None:
    lines = count_lines(paths, suffixes)
    assert lines <= limit, "delete as many lines elsewhere, or raise the limit and say what the lines bought"
    assert lines > limit - SLACK, f"lower the limit to {lines}"


def test_no_file_of_tests_has_more_than_300_lines() -> None:
    lines = {file: file.read_text("utf-8").count("\n") for file in (ROOT / "tests").rglob("*.py")}
    assert max(lines.values()) <= 300, max(lines, key=lines.__getitem__)
