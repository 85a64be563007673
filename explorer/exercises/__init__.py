"""Functions to be repaired, and the judge of what is written: it is read, never run."""

from explorer.exercises.cases import Case
from explorer.exercises.entries import EXERCISES
from explorer.exercises.exercise import Exercise
from explorer.exercises.judging import Verdict, judged

__all__ = ["EXERCISES", "Case", "Exercise", "Verdict", "judged"]
