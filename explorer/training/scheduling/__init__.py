"""Which runs and studies are advanced next, and which wait: quotas, queues and their states."""

from explorer.training.scheduling.fair_queue import FairQueue, Parties
from explorer.training.scheduling.ids import REPLICA, home, replica, replica_of
from explorer.training.scheduling.job import Job, Make, RunJob, StudyJob
from explorer.training.scheduling.queue import Jobs, Runs, Studies
from explorer.training.scheduling.quotas import EngineFull
from explorer.training.scheduling.status import (
    ACTIVE,
    AT_REST,
    HELD,
    OF_STUDIES,
    Command,
    State,
    Status,
    StudyStatus,
    kind_of,
    plain,
    state_words,
)

__all__ = [
    "ACTIVE", "AT_REST", "HELD", "OF_STUDIES", "REPLICA", "Command", "EngineFull", "FairQueue", "Job", "Jobs",
    "Make", "Parties", "RunJob", "Runs", "State", "Status", "Studies", "StudyJob", "StudyStatus", "home",
    "kind_of", "plain", "replica", "replica_of", "state_words",
]  # fmt: skip
