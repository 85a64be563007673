"""Rules compared on a user's own net, from the same starts and batches, judged as a study judges."""

from explorer.model.racing.conduct import race
from explorer.model.racing.result import RaceResult
from explorer.model.racing.work import Watcher

__all__ = ["RaceResult", "Watcher", "race"]
