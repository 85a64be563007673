"""Studies: a comparison of rules at their own best rates, over seeds, on held-out data, with controls."""

from explorer.study.arguments import key_of, rules_of, seeds_of, usual_rates
from explorer.study.conduct import study
from explorer.study.file import StudyFile
from explorer.study.plan import SCALED, UNSCALED, Plan, duration
from explorer.study.progress import progress_bar
from explorer.study.result import Result
from explorer.study.script import script
from explorer.study.stepper import Stepper
from explorer.study.trial import Row, Trial
from explorer.study.workers import OtherVersionsError, StudyStoppedError, opened, packed

__all__ = [
    "SCALED", "UNSCALED", "Lane", "OtherVersionsError", "Plan", "Result", "Row", "Stepper", "StudyFile",
    "StudyStoppedError", "Trial", "duration", "key_of", "opened", "packed",
    "progress_bar", "rules_of", "script", "seeds_of",
    "study", "usual_rates",
]  # fmt: skip

Lane = Trial  # as it was called
