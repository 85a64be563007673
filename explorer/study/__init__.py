"""Studies: which rule, at its own best rate, over seeds, on data held out, beside controls."""

from explorer.study.plan import Lane, Plan, Row
from explorer.study.result import Result
from explorer.study.stepper import Stepper

__all__ = ["Lane", "Plan", "Result", "Row", "Stepper"]
