"""The controls: functions that draw a widget and return a value, drawn from the catalogue's data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from explorer.catalogue import (
    FAMILIES,
    GROUPS,
    MOST_RULES,
    OPS,
    OWN,
    OWN_FAMILY,
    RULES,
    Op,
    Parameter,
    Rule,
    find_op,
    find_rule,
)
from explorer.curves import LARGEST_RANGE
from explorer.formula import FUNCTIONS, MAX_LENGTH, FormulaError
from explorer.training import TASKS
from explorer.training.limits import MAX_BATCH, MAX_HIDDEN, MAX_SEED, MAX_STEPS
from explorer.ui import state
from explorer.ui.link import (
    LARGEST_G,
    LARGEST_LR,
    MOST_OWN_RULES,
    SMALLEST_LR,
    Choice,
    ordered,
    parameters_of,
    tidy_range,
)
from explorer.ui.presets import PRESETS

# What each own rule starts from.
_FIRST_OWN_RULES = ("g * (abs(x) <= w)", "g / (1 + k * abs(x))**2", "g * exp(-abs(x) / w)")
OWN_SLOTS = tuple(f"{OWN}{number}" for number in range(1, MOST_OWN_RULES + 1))
_LONGEST_SHOWN = 40
_FIRST = ("default", "straight_through")
_FIRST_OWN_OP = "x - floor(x)"


def preset(choice: Choice) -> None:
    """A picker of ready-made choices, and what to try with the one that is shown."""
    shown = next((p for p in PRESETS if (p.choice.op, p.choice.rules) == (choice.op, choice.rules)), None)
    same = shown and (shown.choice.parameters, shown.choice.range, shown.choice.g) == (
        choice.parameters,
        choice.range,
        choice.g,
    )
    st.session_state["preset"] = shown.name if shown and same else None
    names = [p.name for p in PRESETS]
    st.selectbox("Preset", names, key="preset", placeholder="Start from an example", on_change=_load_preset)
    if shown:
        st.caption(shown.hint)


def _load_preset() -> None:
    name = st.session_state["preset"]
    chosen = next((p.choice for p in PRESETS if p.name == name), None)
    if chosen:
        shown = replace(state.current(), op=chosen.op, rules=chosen.rules, parameters=chosen.parameters)
        state.load(replace(shown, range=chosen.range, g=chosen.g))


def op_and_rules(choice: Choice) -> tuple[Op, tuple[Rule, ...]]:
    """The two pickers side by side: wide enough for names with their formulas."""
    left, right = st.columns([2, 5])
    with left:
        op = _op(choice)
    with right:
        rules = _rules(choice, op)
        if doubts := [f"{rule.label}: {rule.otherwise}" for rule in rules if not _suits(rule, op)]:
            st.caption("  \n".join(doubts))
    return op, rules


def _op(choice: Choice) -> Op:
    """The op: one of the catalogue, or an own formula in x."""
    own = choice.op.startswith(OWN)
    picked = st.selectbox(
        "Op",
        [*OPS, OWN],
        format_func=_op_option,
        key=state.seeded("op", OWN if own else choice.op),
        help="The forward function y = f(x). Type to search by name or formula.",
    )
    if picked != OWN:
        return OPS[picked]
    good = choice.op if own else OWN + _FIRST_OWN_OP
    return find_op(_own("Own op: y =", "own.op", good, find_op, "x"))


def _suits(rule: Rule, op: Op) -> bool:
    return not rule.suits or op.family in (*rule.suits, OWN_FAMILY)


def _rules(choice: Choice, op: Op) -> tuple[Rule, ...]:
    """One to six backward rules, up to three of them own formulas in x, y and g.

    Those that suit the op stand first, the ones made for its family at the very top after the two
    that everybody needs.
    """
    ranked = sorted(RULES, key=lambda key: (not _suits(RULES[key], op), not RULES[key].suits))
    slots = dict(zip((rule for rule in choice.rules if rule.startswith(OWN)), OWN_SLOTS, strict=False))
    good = st.session_state.setdefault("own.rules", {})
    if not state.is_drawn("rules"):
        good.update({slot: rule for rule, slot in slots.items()})
    picked = st.multiselect(
        "Backward rules",
        [*_FIRST, *(key for key in ranked if key not in _FIRST), *OWN_SLOTS],
        format_func=_rule_option,
        key=state.seeded("rules", [slots.get(rule, rule) for rule in choice.rules]),
        max_selections=MOST_RULES,
        select_all=False,
        wrap=True,
        help=f"What is returned as the gradient. Up to {MOST_RULES}; type to search by name or formula.",
    )
    if not picked:
        st.caption("No rule is chosen: the last ones stay.")
        return choice.entries[1]
    for slot in picked:
        if slot in OWN_SLOTS:
            number = slot.removeprefix(OWN)
            last = good.get(slot, OWN + _FIRST_OWN_RULES[OWN_SLOTS.index(slot)])
            label, name = f"Own rule {number}: gradient =", f"own.rule.{number}"
            good[slot] = _own(label, name, last, find_rule, "x, y, g")
    return tuple({rule.key: rule for rule in (find_rule(good.get(key, key)) for key in picked)}.values())


def _own(label: str, name: str, good: str, find: Callable[[str], Op | Rule], variables: str) -> str:
    """An own formula as it is typed; while it cannot be read the last good one stays."""
    text = st.text_input(
        label,
        key=state.seeded(name, good.removeprefix(OWN)),
        max_chars=MAX_LENGTH,
        live=True,
        help=f"{variables}, numbers, names of your own for sliders, + - * / \\*\\*, "
        f"comparisons such as (lo <= x <= hi), & | ~ between them, and {', '.join(FUNCTIONS)}.",
    )
    try:
        return find(OWN + (text or "")).key
    except FormulaError as error:
        st.code(error.pointer(text or ""), language=None)
        st.text(f"{error.message}{'' if error.message.endswith('?') else '.'} The last good formula stays.")
        return good


def _op_option(key: str) -> str:
    if key == OWN:
        return "own formula…"
    op = OPS[key]
    return " · ".join([op.label, _short(op.formula), FAMILIES[op.family], key])


def _rule_option(key: str) -> str:
    if key in OWN_SLOTS:
        return f"own formula {key.removeprefix(OWN)}…"
    rule = RULES[key]
    return " · ".join([rule.label, _short(rule.formula or "torch's own"), GROUPS[rule.group]])


def _short(formula: str) -> str:
    """As much of a formula as leaves room for its neighbours among the chosen ones."""
    return formula if len(formula) <= _LONGEST_SHOWN else f"{formula[: _LONGEST_SHOWN - 1]}…"


def parameters(choice: Choice, op: Op, rules: tuple[Rule, ...]) -> tuple[dict[str, float], dict[str, Any]]:
    """Sliders for what the op and the rules depend on.

    Returns the values by control name as they are kept, and as they are used: in order where two
    must not cross.
    """
    kept = dict(choice.parameters)
    entries: tuple[Op | Rule, ...] = (op, *rules)
    owner = {p.name: entry.key for entry in reversed(entries) for p in entry.parameters}
    for name, parameter in parameters_of(op, rules).items():
        value = choice.parameters.get(name, parameter.default)
        if not parameter.low <= value <= parameter.high:
            value = parameter.default
        kept[name] = st.slider(
            _parameter_label(name, parameter, rules),
            parameter.low,
            parameter.high,
            step=_step(parameter),
            format="%.4g",
            key=state.seeded(f"{owner.get(name, '')}.{name}", float(value)),
            help=parameter.meaning,
        )
        if kept[name] == parameter.default:
            del kept[name]
    own = {name: kept[name] for name in parameters_of(op, rules) if name in kept}
    used, notices = ordered(op, rules, own)
    for notice in notices:
        st.caption(notice)
    return kept, used


def _step(parameter: Parameter) -> float:
    """Hundredths; for wide bounds tenths, and whole numbers where bounds and default are whole."""
    if parameter.high - parameter.low <= 50:
        return 0.01
    ends = (parameter.low, parameter.default, parameter.high)
    return 1.0 if all(end.is_integer() for end in ends) else 0.1


def _parameter_label(name: str, parameter: Parameter, rules: tuple[Rule, ...]) -> str:
    """The parameter's name, and whose it is where several rules mean different things by it."""
    owner = next((rule for rule in rules if name == f"{rule.key}.{parameter.name}"), None)
    if owner is None:
        return parameter.name
    own = [rule for rule in rules if rule.key.startswith(OWN)]
    return f"{parameter.name} of {f'own rule {own.index(owner) + 1}' if owner in own else owner.label}"


def span(choice: Choice) -> tuple[float, float]:
    """The range of x; reversed ends are swapped, an empty range is widened."""
    left, right = st.columns(2)
    with left:
        start = _number("Range", "start", choice.range[0], LARGEST_RANGE, "From this x.")
    with right:
        stop = _number("to", "stop", choice.range[1], LARGEST_RANGE, "To this x.")
    tidied, notices = tidy_range(start, stop)
    for notice in notices:
        st.caption(notice)
    return tidied


def upstream(choice: Choice) -> float:
    """The upstream gradient."""
    return _number("Upstream gradient g", "g", choice.g, LARGEST_G, "What arrives from above: grad_output.")


def training(choice: Choice) -> dict[str, Any]:
    """The settings of a run beside op, rules and their parameters."""
    with st.expander("Training settings", expanded=True):
        task = st.selectbox("Task", list(TASKS), key=state.seeded("task", choice.task))
        steps = _whole("Steps", "steps", choice.steps, 1, MAX_STEPS, "Steps of gradient descent.")
        lr = st.number_input(
            "Learning rate lr",
            SMALLEST_LR,
            LARGEST_LR,
            value=None,
            format="%.3g",
            step=1e-6,
            key=state.seeded("lr", choice.lr),
        )
        hidden = _whole("Hidden units", "hidden", choice.hidden, 1, MAX_HIDDEN, "Width of the hidden layer.")
        batch = _whole("Batch", "batch", choice.batch, 1, MAX_BATCH, "Examples in a step.")
        seed = _whole("Seed", "seed", choice.seed, 0, MAX_SEED, "The same seed gives the same numbers.")
    return {
        "task": task,
        "steps": steps,
        "lr": choice.lr if lr is None else float(lr),
        "hidden": hidden,
        "batch": batch,
        "seed": seed,
    }


def _whole(label: str, name: str, value: int, low: int, high: int, meaning: str) -> int:
    key = state.seeded(name, value)
    typed = st.number_input(label, low, high, value=None, step=1, key=key, help=meaning)
    return value if typed is None else int(typed)


def _number(label: str, name: str, value: float, most: float, meaning: str) -> float:
    key = state.seeded(name, value)
    typed = st.number_input(label, -most, most, value=None, step=0.5, format="%.6g", key=key, help=meaning)
    return value if typed is None else float(typed)
