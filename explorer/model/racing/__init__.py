"""Races: rules compared on a user's own net with the same starts and batches, evaluated as in a study."""

from explorer.model.racing.conduct import race
from explorer.model.racing.result import RaceResult
