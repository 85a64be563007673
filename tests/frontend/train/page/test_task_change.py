"""What is asked where another task is chosen."""

import pytest

from explorer.training import TASKS
from tests.frontend.train.conftest import Run, choice


@pytest.mark.parametrize(
    ("op", "inside"), [("bernoulli", "Bernoulli unit"), ("relu", "ReLU"), ("round", "round")]
)
def test_an_op_that_may_stay_is_named_as_in_a_sentence(tell: Run, op: str, inside: str):
    before = choice(op, "default", task="digits")
    asked = {"choice": before, "changing": {"key": "binary weights", "before": before, "after": None}}
    asks = tell("page/task-change", "getChangeQuestion", asked)
    own = f"Use its own: binarise and {len(TASKS['binary weights'].rules)} rules"
    assert (asks["keep"], asks["own"]) == (f"Keep {inside}", own)
