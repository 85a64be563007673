"""The curves of the run before, and the sentence on what has changed since."""

import random
from typing import Any

from explorer.catalogue import RULES
from tests.frontend.train.conftest import Run, choice
from tests.frontend.train.page.conftest import status

# Two values of each setting, and whether a rule is chosen. "lr" alone ends no run; "task" is other data.
VALUES: dict[str, tuple[Any, Any]] = {
    "lr": (0.01, 0.03), "seeds": (1, 5), "hidden units": (16, 4), "optimiser": ("Adam", "Momentum"),
    "task": ("moons", "circles"), "hi": (1, 2), "masked": (True, False), "tanh_surrogate": (False, True),
}  # fmt: skip
# Each event is a choice, "reset", or "start" of a run, whose last scores are not finite.
PLAY = """
    const { toSettingsKey } = await import("./train/state/tasks.js");
    const { IDLE } = await import("./train/state/status.js");
    return given.events.map((event, number) => {
        if (event === "reset") state = withReset(state);
        else if (event !== "start") {
            state = { ...state, choice: event };
            const keys = [event, state.trained ?? event].map((one) => toSettingsKey(one, state.table));
            if (keys[0] !== keys[1]) state = { ...withOtherSettings(state), view: view(IDLE) };
        } else {
            state = withBegun(state);
            const all = (end) =>
                Object.fromEntries(state.choice.rules.map(({ key, slot }) => [key, [slot, number, end]]));
            const curves = { losses: all(NaN), scores: all(NaN), loss_steps: all(3), score_sd: {} };
            const snapshot = { ...given.status.snapshot, ...curves };
            state.view = view({ ...given.status, snapshot });
        }
        state.past = JSON.parse(JSON.stringify(state.past)); // as after a reload
        const { past, chart } = buildPicture(state);
        const ghosts = chart.series.filter(({ faint, y }) => faint && y.every(Number.isFinite));
        return [past, ...ghosts.map(({ name, ends }) => name + (ends ? " (labelled)" : ""))];
    });
"""


def choose(now: dict[str, Any]) -> dict[str, Any]:
    training = {name: str(now[name]).lower() for name in ("lr", "seeds", "optimiser", "task")}
    rules = [name for name, value in now.items() if value is True]
    training["hidden"] = str(now["hidden units"])
    return choice("clamp", "default", *rules, parameters={"hi": now["hi"]}, **training)


def describe(past: dict[str, Any], now: dict[str, Any]) -> set[str]:
    """The changes of settings between two runs, in words."""
    return {
        f"{RULES[name].label} {'added' if value else 'removed'}" if isinstance(value, bool)
        else f"{name} {past[name]} → {value}"
        for name, value in now.items() if value != past[name]
    }  # fmt: skip


def test_every_order_of_changes_is_told_in_full(picture: Run):
    draw = random.Random(0)
    now, run, past = {name: values[0] for name, values in VALUES.items()}, None, None
    events, expected = [choose(now)], [("", set(), set())]
    for _ in range(500):
        name = draw.choice([*VALUES, "start", "start", "start", "reset"])
        if name == "start":
            past, run = (run if run and run != now else past), dict(now)
        elif name == "reset":
            past, run = None, run and dict(now)
        else:
            now[name] = VALUES[name][VALUES[name][0] == now[name]]
            if run and name != "lr":
                past, run = run, None
        events.append(name if name in ("start", "reset") else choose(now))
        shown = past if past and past != run and past["task"] == now["task"] else None
        rules = {"default", *(name for name, value in (shown or {}).items() if value is True)}
        names = {
            f"{RULES[rule].label}, before{'' if now.get(rule, True) else ' (labelled)'}"
            for rule in rules
            if shown
        }
        told = describe(shown, run or now) if shown else set()
        expected.append(("Dotted curves: the run before" if shown else "", told, names))
    results = picture(PLAY, events=events, status=status("finished"), choice=choose(now))
    for (sentence, *ghosts), told in zip(results, expected, strict=True):
        head, _, changes = sentence.removesuffix(".").partition(". Since then: ")
        assert (head, set(filter(None, changes.split("; "))), set(ghosts)) == told
    assert sum(len(changes) > 1 for _, changes, _ in expected) > 50
