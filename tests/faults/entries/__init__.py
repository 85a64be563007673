"""All planted faults, by area; faults of the catalogue's formulas are in `tests/catalogue/mutation.py`."""

from tests.faults.entries import core, frontend, server, telling, train, training
from tests.faults.fault import Fault

FAULTS: tuple[Fault, ...] = (
    *core.FAULTS,
    *telling.FAULTS,
    *training.FAULTS,
    *server.FAULTS,
    *frontend.FAULTS,
    *train.FAULTS,
)
