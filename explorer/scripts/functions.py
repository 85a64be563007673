"""The functions of a script: one for each op with a rule, and their sequence for each rule of the run."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from explorer.catalogue import Op, Rule, find_op, find_rule, resolve_values
from explorer.snippets import function_code
from explorer.snippets.pair import make_pair
from explorer.training import Settings
from explorer.training.nets import join_rules, list_learned


class Line(NamedTuple):
    """One backward rule of a run, as a sequence of functions that a script trains.

    Attributes:
        function: name of the first function.
        later: a dict from steps to the names of the functions that begin there.
        starts: a dict from the learned parameters of all these functions to their initial values.
    """

    function: str
    later: dict[int, str]
    starts: dict[str, float]


class Functions(NamedTuple):
    """The functions of a script, one for each op with a rule. All fields are dicts from their names.

    Attributes:
        code: the source of each function.
        learns: the names of each function's learned parameters.
        takes: the names of each function's extra arguments: u, and f, the loss as a function of the output.
        judged: the name of the function that replaces a function when nets are evaluated, if there is one.
    """

    code: dict[str, str]
    learns: dict[str, tuple[str, ...]]
    takes: dict[str, tuple[str, ...]]
    judged: dict[str, str]

    @property
    def is_random(self) -> bool:
        """Whether any function is stochastic."""
        return any(self.takes.values())

    @property
    def needs_loss(self) -> bool:
        """Whether any function needs the loss."""
        return any("f" in arguments for arguments in self.takes.values())


def lines_of(settings: Settings) -> tuple[Functions, list[Line]]:
    """Return all functions of a script, and for each rule a ``Line``, the sequence of its functions."""
    steps = sorted({step for step, name, _ in settings.branch if name != "lr"})
    functions = Functions({}, {}, {}, {})
    numbers: dict[str, dict[str, int]] = {"op": {}, "rule": {}}
    starts = _find_starts(settings)
    lines: list[Line] = []
    for line, _ in enumerate(settings.rules):
        names: dict[int, str] = {}
        for step in (-1, *steps):
            course = settings.course_of(step)
            op, rule = find_op(course.op), find_rule(course.rules[line])
            names[step] = _add_function(functions, op, rule, numbers, settings)
        learned = {parameter for name in names.values() for parameter in functions.learns[name]}
        begins = {name: value for name, value in starts[line].items() if name in learned}
        lines.append(Line(names[-1], {step: names[step] for step in steps}, begins))
    return functions, lines


def _find_starts(settings: Settings) -> list[dict[str, float]]:
    op, rules, _ = settings.course_of(-1)
    joint = join_rules(op, rules, settings.parameters, settings.learn, settings.learned)
    names = [parameter.name for parameter in joint.learned]
    return [dict(zip(names, values, strict=True)) for values in joint.starts] or [{} for _ in rules]


def _add_function(
    functions: Functions, op: Op, rule: Rule, numbers: dict[str, dict[str, int]], settings: Settings
) -> str:
    parameters, learns = resolve_values(op, rule, settings.parameters), list_learned(op, rule, settings.learn)
    op_number, rule_number = (
        numbering.setdefault(key, len(numbering) + 1)
        for numbering, key in ((numbers["op"], op.key), (numbers["rule"], rule.key))
    )
    keeps_key = op.key.isidentifier() or op_number == 1
    op = op if keeps_key else replace(op, key=f"op_{op_number}")
    name, code = function_code(op, rule, parameters, learns)
    is_named = rule.key.isidentifier() or (
        rule.label != rule.formula and functions.code.get(name, code) == code
    )
    keyed_rule = rule if is_named else replace(rule, key=f"rule_{rule_number}")
    name = _put_function(functions, op, keyed_rule, parameters, learns)
    if op.judged is not None:
        judged = replace(
            op.evaluation_op,
            key=f"{op.key}_judged",
            label=f"{op.label}, judged",
            purpose="Used instead when nets are evaluated.",
        )
        functions.judged[name] = _put_function(functions, judged, find_rule("default"), {}, ())
    return name


def _put_function(
    functions: Functions, op: Op, rule: Rule, parameters: Mapping[str, float], learns: Sequence[str]
) -> str:
    name, code = function_code(op, rule, parameters, learns)
    functions.code[name], functions.learns[name] = code, tuple(learns)
    functions.takes[name] = make_pair(op, rule, parameters, learns).extras
    return name


def has_rule_changes(settings: Settings) -> bool:
    """Return whether the run changes its op or a rule at some step."""
    return any(name != "lr" for _, name, _ in settings.branch)
