"""Random choices, as varied as the controls allow."""

import math
import random
from collections.abc import Callable
from typing import Any

from explorer.catalogue import FORMULA_PREFIX, MAX_RULES, OPS, RULES, find_op, find_rule, list_learnable
from explorer.catalogue.records import MAX_ABS_X
from explorer.formula import FormulaError, number_text
from explorer.instrument.limits import MAX_G, find_reach
from explorer.instrument.view import SECTIONS
from explorer.training import FULL, TASKS, limits
from explorer.training.numerics.optimisers import OPTIMISERS
from explorer.training.settings.branches import Branch
from explorer.ui.links import choice as words
from explorer.ui.links.choice import Choice, collect_parameters
from explorer.ui.links.reader import Query


def _number(rng: random.Random, low: float, high: float) -> float:
    """Round and crooked numbers, the bounds, tiny ones."""
    pick = rng.choice(
        [
            rng.uniform(low, high), float(round(rng.uniform(low, high), 2)), low, high,
            math.nextafter(low, high), rng.uniform(-1, 1) * 10 ** rng.randint(-300, 0),
        ]
    )  # fmt: skip
    return min(max(pick, low), high) + 0.0


def _own_text(rng: random.Random, variables: list[str], depth: int = 3) -> str:
    """A formula in the given variables, numbers and parameters of its own, a shared name among them."""
    if not depth or rng.random() < 0.2:
        return rng.choice([*variables, "lo", "w", "k2", str(rng.randint(0, 9)), repr(rng.random())])
    left, right = (_own_text(rng, variables, depth - 1) for _ in range(2))
    return rng.choice(
        [
            f"({left} + {right})", f"{left} * ({right} <= 1)", f"where({left} > {right}, {left}, -0.5)",
            f"clamp({left}, lo, hi)", f"-abs({left})",
        ]
    )  # fmt: skip


def _own(rng: random.Random, variables: list[str], find: Callable[[str], Any]) -> str:
    while True:
        try:
            return find(FORMULA_PREFIX + _own_text(rng, variables)).key
        except FormulaError:  # too long or too deep
            continue


def _colours(rng: random.Random, count: int) -> str:
    colours = rng.sample("123456"[:MAX_RULES], count)
    return "" if colours == sorted(colours) and colours[-1] == str(count) else "".join(colours)


def random_choice(rng: random.Random) -> Choice:
    """A choice that could have been made on the pages, with nothing at fault."""
    op = _own(rng, ["x"], find_op) if rng.random() < 0.2 else rng.choice(list(OPS))
    rules = rng.sample(list(RULES), rng.randint(1, MAX_RULES))
    if rng.random() < 0.2:
        rules[0] = _own(rng, ["x", "y", "g"], find_rule)
    op_entry, rule_entries = find_op(op), [find_rule(rule) for rule in rules]
    controls = collect_parameters(op_entry, rule_entries)
    parameters = {name: _number(rng, *find_reach(p)) for name, p in controls.items() if rng.random() < 0.5}
    parameters, _ = words.sort_bounds(op_entry, rule_entries, parameters)
    low, high = sorted(_number(rng, -MAX_ABS_X, MAX_ABS_X) for _ in range(2))
    plain = rng.random() < 0.3
    can = sorted({name for rule in rule_entries for name in list_learnable(op_entry, rule)})
    return Choice(
        op=op, rules=tuple(rules), hide=tuple(rule for rule in rules if rng.random() < 0.1),
        colours=_colours(rng, len(rules)) if rng.random() < 0.2 else "", section=rng.choice(["", *SECTIONS]),
        slow=("", "input", "gradient,2,1,15,28")[len(rules) % 3],
        parameters={name: value for name, value in parameters.items() if value != controls[name].default},
        learns=rng.choice(["", *can]),
        range=(low, high) if high - low > 1e-5 * max(1, abs(low)) and not plain else (-3.0, 3.0),
        g=_number(rng, -MAX_G, MAX_G), task=rng.choice(list(TASKS)),
        seeds=rng.choice([1, rng.randint(1, limits.MAX_SEEDS)]), optimiser=rng.choice([None, *OPTIMISERS]),
        bias=rng.choice([None, True, False]),
        init_scale=rng.choice([None, rng.uniform(limits.MIN_SCALE, limits.MAX_SCALE)]),
        steps=rng.randint(1, limits.MAX_STEPS), lr=10 ** rng.uniform(-12, 3),
        hidden=tuple(rng.randint(1, limits.MAX_HIDDEN) for _ in range(rng.randint(1, limits.MAX_LAYERS))),
        batch=rng.randint(1, limits.MAX_BATCH), seed=0 if plain else rng.randint(0, limits.MAX_SEED),
        pace=rng.choice([FULL, 50.0, rng.uniform(1, limits.MAX_PACE)]), branch=_branches(rng, op, rules),
    )  # fmt: skip


def _branches(rng: random.Random, op: str, rules: list[str]) -> tuple[Branch, ...]:
    """Up to two branch points that a run of one step and more can have."""
    names = {"lr": 10 ** rng.uniform(-12, 3), "op": op, "rule": rng.choice(rules), rules[0]: rules[-1]}
    return tuple((0, name, names[name]) for name in rng.sample(list(names), rng.choice([0, 0, 1, 2])))


def query_of(choice: Choice) -> Query:
    """The query that the browser writes for a choice, written a second time."""
    first, controls = Choice(), collect_parameters(*choice.entries)
    query = {"op": [choice.op], "rule": [*choice.rules], "hide": [*choice.hide], "colours": [choice.colours]}
    for key, parameter in controls.items():
        # What is the op's in another meaning is written for both: alone it would mean both, as in old links.
        if key in choice.parameters or parameter.plain in choice.parameters:
            value = choice.parameters.get(key, parameter.default)
            query[words.PREFIX + key if key in words.QUERY_KEYS else key] = [number_text(value)]
    query["range"] = [number_text(end) for end in choice.range if choice.range != first.range]
    query["g"] = [number_text(choice.g) if choice.g != first.g else ""]
    query |= {name: [getattr(choice, name)] for name in ("learns", "section", "slow")}
    query |= {name: text.split("\n") for name, text in words.format_training_settings(choice).items()}
    return {name: texts for name, texts in query.items() if any(texts)}
