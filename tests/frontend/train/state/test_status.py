"""Sentences of a run's status before the engine answers, and that the browser repeats no fact of Python."""

import re

import pytest

from explorer.instrument.modules import MODULES
from explorer.training.instruments import INSTRUMENTS
from explorer.training.limits import Limits
from explorer.training.scheduling.status import SENTENCES, describe_state
from tests.frontend.train.conftest import Run

PANELS = [instrument.panel for instrument in INSTRUMENTS.values() if instrument.panel]
NAMES = [entry.text for panel in PANELS for entry in panel.legend if " " in entry.text]
QUOTE = "[\"'`]"
FILLED = r"\$\{[^}]*\}"  # a place of a template, in the browser


def literals() -> list[str]:
    """Expressions for Python's sentences as literals of the browser."""
    sentences = [re.split(r"\{\w+\}", text) for text in SENTENCES.values()]
    begun = [FILLED.join(map(re.escape, pieces)) for pieces in sentences if max(map(len, pieces)) > 1]
    return [*(QUOTE + text for text in (*begun, *map(re.escape, NAMES))), f"{Limits.pause_after_s:g} seconds"]


@pytest.mark.parametrize(("state", "step"), [("ready", 0), ("running", 7), ("paused", 7)])
def test_a_press_shows_the_sentence_that_the_engine_will_say(tell: Run, state: str, step: int):
    assert tell("state/status", "getSentence", state, step) == describe_state(state, step=step)


@pytest.mark.parametrize("literal", literals())
def test_no_fact_of_training_is_repeated_in_the_browsers_modules(literal: str):
    fact = re.compile(literal)
    assert [path.name for path in MODULES.rglob("*.js") if fact.search(path.read_text("utf-8"))] == []
