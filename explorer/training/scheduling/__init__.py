"""The order in which runs and studies advance or wait: quotas, queues and states."""

from explorer.training.scheduling.fair_queue import FairQueue, Parties
from explorer.training.scheduling.ids import REPLICA, make_home_prefix, parse_replica, read_replica
from explorer.training.scheduling.job import Job, Make, RunJob
from explorer.training.scheduling.jobs import Jobs
from explorer.training.scheduling.queue import Runs
from explorer.training.scheduling.quotas import EngineFull
from explorer.training.scheduling.status import (
    ACTIVE,
    EXISTING,
    IDLE,
    Command,
    State,
    Status,
    StudyStatus,
    format_error,
    get_status_class,
)
from explorer.training.scheduling.studies import Studies
