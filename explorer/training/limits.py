"""Limits on training: sizes of nets, tables and histories, memory and time."""

import os
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

MAX_STEPS = 5_000
MAX_HIDDEN = 256
MAX_LAYERS = 4  # maximum number of hidden layers of a net
MAX_BATCH = 1_024
MAX_SEED = 2**31 - 1
MAX_SEEDS = 10
MIN_LR, MAX_LR = 1e-12, 1e3
MIN_LEARN_RATE, MAX_LEARN_RATE = 1e-3, 1e3  # the rate of learned parameters, relative to that of weights
MIN_SCALE, MAX_SCALE = 0.01, 100.0
MAX_PACE = 1_000  # steps per second; use "full" for higher paces
MAX_POINTS = 500  # maximum number of points of a loss curve
MAX_SCORES = 200  # maximum number of a run's evaluations on held-out data, in addition to the start
BINS = 32  # number of bins in a histogram of weights
EXAMPLES = 256  # number of training examples that instruments measure
MIN_SIGMA, MAX_SIGMA = 0.05, 5.0
MAX_TABLE_BYTES = 1_000_000
MAX_TABLE_ROWS = 4_096
MAX_TABLE_COLUMNS = 64
MIN_TABLE_ROWS = 20
MAX_CATEGORIES = 12  # a table's column of 2 to so many texts is one input for each
MAX_CLASSES = 32  # a table's column of integers with more distinct values is treated as numbers
MAX_WEIGHTS = 2_000_000  # maximum number of weights of all nets of a run; with Adam they take 40 MB
MAX_BRANCHES = 64  # the maximum number of branch points of a run; nobody makes more by hand
CHECKPOINT_BYTES = 50_000_000  # memory for one run's checkpoints, which have 35 to 950 kB each
CHECKPOINT_BYTES_ALL = 1_000_000_000  # memory for all runs' checkpoints, enough for thirty runs of digits
CHECKPOINT_SHARE = 0.25  # checkpoints take at most this fraction of the machine's memory
MAX_VALUES = 50_000_000  # maximum number of values of one step of convolutions in all nets: 200 MB per kind
MAX_PRODUCTS = (
    2_000_000_000  # maximum number of multiplications in a forward pass of all nets: less than a second
)
# Limits the sum of ``Settings.work`` of fused runs, enough for sixty runs of digits.
MAX_FUSED_WORK = 40_000_000

ASSUMED_MEMORY_BYTES = 4_000_000_000  # used if the system does not report its memory, as on Windows

_GROUP, _GROUPS = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")


def get_memory_bytes() -> int:
    """Return the memory in bytes that this machine has, or that its container or service may use."""
    available = ASSUMED_MEMORY_BYTES
    with suppress(AttributeError, ValueError):
        available = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(ImportError):
        resource = import_module("resource")
        granted, _ = resource.getrlimit(resource.RLIMIT_DATA)
        available = available if granted == resource.RLIM_INFINITY else min(available, granted)
    with suppress(OSError, ValueError):  # a missing file, or the text "max" in it
        group = _GROUP.read_text().rpartition("0::/")[2].strip()
        available = min(available, int((_GROUPS / group / "memory.max").read_text()))
    return available


@dataclass(frozen=True)
class Limits:
    """The limits of one engine; durations in seconds."""

    workers: int = 1
    """Computing threads: two would mostly wait for each other's interpreter lock, and take a third fewer
    steps in total. With 0 the caller drives the engine by ``Engine.turn``."""
    running: int = 2
    """Runs at full pace that are advanced concurrently, in the whole server, not counting runs fused with
    them."""
    waiting: int = 400
    """Runs in the queue, as when a class of 300 presses Start at once; further runs are refused."""
    idle: int = 64
    """Runs that neither run nor wait; beyond this number the unwatched run idle for longest is deleted."""
    kept_numbers: int = 10_000_000
    """Numbers in the nets of ended runs, kept for later measurements: 40 MB."""
    checkpoint_bytes: int = field(
        default_factory=lambda: min(CHECKPOINT_BYTES_ALL, int(CHECKPOINT_SHARE * get_memory_bytes()))
    )
    """Bytes of the checkpoints of all runs; unwatched runs lose checkpoints first."""
    slice_s: float = 0.05
    """The time a worker spends on one run before it takes the next."""
    turn_s: float = 0.0015
    """The time of a run's turn; then the run queues again, and continues at once if no other run waits.
    Thirty turns with their frames take a tenth of a second, so that the curves of a whole class move
    continuously; shorter turns cost steps."""
    pause_after_s: float = 9.0
    """The time after which an unwatched run pauses: below the promised 10 s."""
    forget_after_s: float = 68.0
    """The time after which an unwatched run is deleted: below the promised 70 s."""
    studying: int = 4
    """Studies that are advanced alternately; further studies wait."""
    study_turn_s: float = 60.0
    """The time of a study's turn if a study of another visitor waits."""
    studies_waiting: int = 60
    """Studies in the queue; further studies are refused."""
    study_slice_s: float = 0.01
    """The time a worker spends on a study, or one step of its nets if that takes longer."""
    study_share: float = 0.125
    """The fraction of a worker's time for all studies while runs need it: a class notices little."""
    study_forget_after_s: float = 1800.0
    """The time after which an unwatched study is deleted: its rows are small, and took long to compute."""
