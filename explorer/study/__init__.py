"""Studies: which rule, at its own best rate, over seeds, on data held out, beside controls."""

from explorer.study.arguments import usual_rates
from explorer.study.conduct import study
from explorer.study.plan import Plan
from explorer.study.result import Result
from explorer.study.stepper import Stepper
from explorer.study.trial import Row, Trial
from explorer.study.workers import OtherVersionsError, StudyStoppedError

__all__ = [
    "Lane", "OtherVersionsError", "Plan", "Result", "Row", "Stepper", "StudyStoppedError", "Trial", "study",
    "usual_rates",
]  # fmt: skip

Lane = Trial  # as it was called
