"""Which runs and studies are advanced next, and which wait: quotas, queues and their states."""

from explorer.training.scheduling.fair_queue import FairQueue, Parties
from explorer.training.scheduling.ids import REPLICA, home, replica, replica_of
from explorer.training.scheduling.job import Job
from explorer.training.scheduling.quotas import EngineFull
from explorer.training.scheduling.run_queue import Roster
from explorer.training.scheduling.status import (
    ACTIVE,
    AT_REST,
    HELD,
    Command,
    State,
    Status,
    plain,
    state_words,
)
from explorer.training.scheduling.study import Make, StudyCommand, StudyStatus, study_words
from explorer.training.scheduling.study_queue import Studies

__all__ = [
    "ACTIVE",
    "AT_REST",
    "HELD",
    "REPLICA",
    "Command",
    "EngineFull",
    "FairQueue",
    "Job",
    "Make",
    "Parties",
    "Roster",
    "State",
    "Status",
    "Studies",
    "StudyCommand",
    "StudyStatus",
    "home",
    "plain",
    "replica",
    "replica_of",
    "state_words",
    "study_words",
]  # fmt: skip
