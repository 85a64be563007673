"""Exercises, in which a faulty Function is repaired, and code that grades a solution without running it."""

from explorer.reading.exercises.cases import Case
from explorer.reading.exercises.entries import EXERCISES
from explorer.reading.exercises.exercise import Exercise
from explorer.reading.exercises.judging import Verdict, judge_text

__all__ = ["EXERCISES", "Case", "Exercise", "Verdict", "judge_text"]
