"""Functions to be repaired, and the judge of what is written: it is read, never run."""

from explorer.reading.exercises.cases import Case
from explorer.reading.exercises.entries import EXERCISES
from explorer.reading.exercises.exercise import Exercise
from explorer.reading.exercises.judging import Verdict, judged

__all__ = ["EXERCISES", "Case", "Exercise", "Verdict", "judged"]
