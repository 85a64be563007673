"""The order in which runs and studies advance or wait: quotas, queues and states."""

from explorer.training.scheduling.fair_queue import FairQueue, Parties
from explorer.training.scheduling.ids import REPLICA, make_home_prefix, read_replica, replica_of
from explorer.training.scheduling.job import Job, Make, RunJob, StudyJob
from explorer.training.scheduling.queue import Jobs, Runs, Studies
from explorer.training.scheduling.quotas import EngineFull
from explorer.training.scheduling.status import (
    ACTIVE,
    EXISTING,
    IDLE,
    STUDY_SENTENCES,
    Command,
    State,
    Status,
    StudyStatus,
    describe_state,
    format_error,
    kind_of,
)

__all__ = [
    "ACTIVE",
    "EXISTING",
    "IDLE",
    "REPLICA",
    "STUDY_SENTENCES",
    "Command",
    "EngineFull",
    "FairQueue",
    "Job",
    "Jobs",
    "Make",
    "Parties",
    "RunJob",
    "Runs",
    "State",
    "Status",
    "Studies",
    "StudyJob",
    "StudyStatus",
    "describe_state",
    "format_error",
    "kind_of",
    "make_home_prefix",
    "read_replica",
    "replica_of",
]  # fmt: skip
