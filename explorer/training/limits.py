"""Every limit of training, each one named number."""

import os
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

MAX_STEPS = 5_000
MAX_HIDDEN = 256
MAX_LAYERS = 4  # hidden ones
MAX_BATCH = 1_024
MAX_SEED = 2**31 - 1
MAX_SEEDS = 10
SMALLEST_LR, LARGEST_LR = 1e-12, 1e3
SMALLEST_LEARN_RATE, LARGEST_LEARN_RATE = 1e-3, 1e3  # of parameters that learn, in learning rates
SMALLEST_SCALE, LARGEST_SCALE = 0.01, 100.0
MAX_PACE = 1_000  # steps a second; beyond it "full" is meant
MAX_POINTS = 500  # per loss curve in a snapshot
MAX_SCORES = 200  # times that a run is judged on held-out data, beside the start
BINS = 32  # of a histogram of weights
EXAMPLES = 256  # of the training data, on which instruments look at the nets
SMALLEST_SIGMA, LARGEST_SIGMA = 0.05, 5.0
MAX_TABLE_BYTES = 1_000_000
MAX_TABLE_ROWS = 4_096
MAX_TABLE_COLUMNS = 64
FEWEST_TABLE_ROWS = 20
MAX_CLASSES = 32  # of a table; whole numbers with more values than that are numbers
MAX_WEIGHTS = 2_000_000  # of all nets of a run: 40 MB with Adam
MAX_BRANCHES = 64  # branch points of a run: more than anybody makes by hand
CHECKPOINT_BYTES = 50_000_000  # of the states that a run can go back to: 35 to 950 kB each
CHECKPOINT_BYTES_ALL = 1_000_000_000  # of those of all runs: thirty runs of digits with five seeds
CHECKPOINT_SHARE = 0.25  # of the memory there is, where that is less
MAX_VALUES = 50_000_000  # numbers that one step of convolutions makes in all nets: 200 MB for each kind
MAX_PRODUCTS = 2_000_000_000  # multiplications forward in one step of all nets: less than a second
MOST_TOGETHER = 40_000_000  # of runs that take steps together, as ``Settings.work`` has it: sixty on digits

ASSUMED_MEMORY_BYTES = 4_000_000_000  # where the system does not tell, as Windows does not

_GROUP, _GROUPS = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")


def memory_bytes() -> int:
    """The memory of the machine, or the part that it grants this service, container or process."""
    most = ASSUMED_MEMORY_BYTES
    with suppress(AttributeError, ValueError):
        most = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(ImportError):
        resource = import_module("resource")
        granted, _ = resource.getrlimit(resource.RLIMIT_DATA)
        most = most if granted == resource.RLIM_INFINITY else min(most, granted)
    with suppress(OSError, ValueError):  # no such file, or "max"
        own = _GROUP.read_text().rpartition("0::/")[2].strip()
        most = min(most, int((_GROUPS / own / "memory.max").read_text()))
    return most


@dataclass(frozen=True)
class Limits:
    """The limits of one engine; durations in seconds."""

    workers: int = 1
    """Threads that compute: two would wait for each other's interpreter lock most of the time, and take a
    third fewer steps together. 0 leaves the driving to whoever calls ``Engine.turn``."""
    running: int = 2
    """Runs at full pace that are advanced at the same time, in the whole server; those that are alike and go
    together with one of them are more."""
    waiting: int = 400
    """Runs in the queue, as when a class of 300 presses Start at once; one more is refused."""
    idle: int = 64
    """Runs that neither run nor wait; beyond them the unwatched one goes that has rested longest."""
    kept_numbers: int = 10_000_000
    """Numbers in the nets of ended runs, which may still be measured: 40 MB."""
    checkpoint_bytes: int = field(
        default_factory=lambda: min(CHECKPOINT_BYTES_ALL, int(CHECKPOINT_SHARE * memory_bytes()))
    )
    """Bytes of the checkpoints of all runs; those of unwatched runs are thinned first."""
    slice_s: float = 0.05
    """The time a worker stays with one run before it takes the next."""
    turn_s: float = 0.0015
    """The time of a run's turn; then it queues again, and goes on at once if no other waits.
    With their pictures, thirty such turns are over in a tenth of a second, so that the curves of a whole
    class move all the time; shorter ones cost steps."""
    pause_after_s: float = 9.0
    """The time after which an unwatched run pauses: below the promised 10 s."""
    forget_after_s: float = 68.0
    """The time after which an unwatched run is deleted: below the promised 70 s."""
    studying: int = 4
    """Studies that are advanced in turn; the others wait."""
    study_turn_s: float = 60.0
    """The time of a study's turn where another visitor's waits."""
    studies_waiting: int = 60
    """Studies in the queue; one more is refused."""
    study_slice_s: float = 0.01
    """The time a worker stays with a study, or one step of its nets if that takes longer."""
    study_share: float = 0.125
    """The share of a worker's time for all studies while runs want it: a class notices little."""
    study_forget_after_s: float = 1800.0
    """The time after which an unwatched study is deleted: its rows are small, and took long."""
