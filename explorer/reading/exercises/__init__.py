"""Exercises about faulty Functions to repair, and code that grades solutions without running them."""

from explorer.reading.exercises.entries import EXERCISES
from explorer.reading.exercises.exercise import Exercise
from explorer.reading.exercises.judging import judge_text
