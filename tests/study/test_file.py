import pandas as pd
import pytest

from explorer.study import Plan, Result
from explorer.study.file import StudyFile
from tests.study.test_stepper import driven

ARGUMENTS = {"task": "circles", "op": "sign", "lrs": [0.01, 0.1], "seeds": 2, "steps": 2, "hidden": 4}
RULES = ["formula: g / 0", "clipped"]
PLAN = Plan.create(**ARGUMENTS, rules=RULES, parameters={"c": 0.5})


@pytest.fixture(scope="module")
def rows():
    return driven(PLAN).rows


def test_rows_are_read_back_exactly(tmp_path, rows):
    file = StudyFile(tmp_path / "study.csv", PLAN)
    assert file.rows == []
    file.append(rows[:5])
    file.append(rows[5:])
    assert repr(StudyFile(tmp_path / "study.csv", PLAN).rows) == repr(rows)  # NaN is equal too


def test_it_is_the_frame_as_csv(tmp_path, rows):
    StudyFile(tmp_path / "study.csv", PLAN).append(Result(PLAN, rows).rows)
    frame = pd.read_csv(tmp_path / "study.csv")
    pd.testing.assert_frame_equal(frame.drop(columns="study"), Result(PLAN, rows).frame)


@pytest.mark.parametrize("left", range(1, 120, 7))
def test_a_last_line_that_was_half_written_is_dropped(tmp_path, rows, left):
    path = tmp_path / "study.csv"
    StudyFile(path, PLAN).append(rows)
    text = path.read_bytes()
    path.write_bytes(text[:-left])
    kept = StudyFile(path, PLAN)
    assert repr(kept.rows) == repr(rows[: len(kept.rows)])
    assert len(kept.rows) < len(rows)
    kept.append(rows[len(kept.rows) :])
    assert path.read_bytes() == text


@pytest.mark.parametrize("start", [b"", b"rule,lr", "× ".encode()[:1]])
def test_a_file_without_a_complete_line_is_overwritten(tmp_path, rows, start):
    path = tmp_path / "study.csv"
    path.write_bytes(start)
    StudyFile(path, PLAN).append(rows[-1:])
    assert StudyFile(path, PLAN).rows == rows[-1:]


@pytest.mark.parametrize(
    "other", [{"lrs": [0.01]}, {"rules": ["clipped"]}, {"steps": 3}, {"hidden": 5}, {"parameters": {"c": 1}}]
)
def test_a_file_of_other_arguments_is_refused(tmp_path, rows, other):
    path = tmp_path / "study.csv"
    StudyFile(path, PLAN).append(rows)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="holds the runs of a study with other arguments"):
        StudyFile(path, Plan.create(**{**ARGUMENTS, "rules": RULES, "parameters": {"c": 0.5}, **other}))
    assert path.read_bytes() == before


def test_a_file_of_another_torch_is_refused(tmp_path, rows):
    path = tmp_path / "study.csv"
    StudyFile(path, PLAN).append(rows[:1])
    path.write_text(path.read_text().replace(" torch ", " torch 1."))
    with pytest.raises(ValueError, match=r"were made with torch 1\.\d.*, but this is torch"):
        StudyFile(path, PLAN)


def test_a_file_that_is_not_a_study_is_not_overwritten(tmp_path):
    path = tmp_path / "notes.csv"
    for text in ("name,age\nAda,36\n", "\n", "\x00\n"):
        path.write_text(text)
        with pytest.raises(ValueError, match="is not a study file"):
            StudyFile(path, PLAN)
        assert path.read_text() == text


def test_a_line_that_cannot_be_read_is_named(tmp_path, rows):
    path = tmp_path / "study.csv"
    StudyFile(path, PLAN).append(rows)
    lines = path.read_text().splitlines(keepends=True)
    lines[4] = "clipped,fast\n"
    path.write_text("".join(lines))
    with pytest.raises(ValueError, match=r"line 5 of .*study\.csv cannot be read"):
        StudyFile(path, PLAN)


def test_a_file_that_a_spreadsheet_saved_with_a_mark_at_its_beginning_is_read(tmp_path, rows):
    path = tmp_path / "study.csv"
    StudyFile(path, PLAN).append(rows)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert repr(StudyFile(path, PLAN).rows) == repr(rows)
