"""The functions of a script, one for each op with a rule, and those of each line in turn."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from explorer.catalogue import Op, Rule, find_op, find_rule, resolve_values
from explorer.snippets import function_code
from explorer.snippets.pair import paired
from explorer.training import Settings
from explorer.training.nets import joined, learned_with


class Line(NamedTuple):
    """A rule of a run as a script has it.

    Attributes:
        function: the name of the first.
        later: the names of all that follow, by their first step.
        starts: learned parameters of these, with the value before the first step.
    """

    function: str
    later: dict[int, str]
    starts: dict[str, float]


class Functions(NamedTuple):
    """The functions of a script, by name.

    Attributes:
        code: of each.
        learns: the parameters that learn in it.
        takes: of what is drawn: u, and f, the loss as a function of its output.
        judged: what stands in its place where nets are judged, if that is another.
    """

    code: dict[str, str]
    learns: dict[str, tuple[str, ...]]
    takes: dict[str, tuple[str, ...]]
    judged: dict[str, str]

    @property
    def draw(self) -> bool:
        """Whether any of them draws."""
        return any(self.takes.values())

    @property
    def lose(self) -> bool:
        """Whether any of them asks for a loss."""
        return any("f" in each for each in self.takes.values())


def lines_of(settings: Settings) -> tuple[Functions, list[Line]]:
    """All functions, and the lines that use them."""
    steps = sorted({step for step, name, _ in settings.branch if name != "lr"})
    functions = Functions({}, {}, {}, {})
    numbers: dict[str, dict[str, int]] = {"op": {}, "rule": {}}
    starts = _starts(settings)
    lines: list[Line] = []
    for line, _ in enumerate(settings.rules):
        names: dict[int, str] = {}
        for step in (-1, *steps):
            course = settings.course(step)
            op, rule = find_op(course.op), find_rule(course.rules[line])
            names[step] = _add(functions, op, rule, numbers, settings)
        own = {each for name in names.values() for each in functions.learns[name]}
        begins = {name: value for name, value in starts[line].items() if name in own}
        lines.append(Line(names[-1], {step: names[step] for step in steps}, begins))
    return functions, lines


def _starts(settings: Settings) -> list[dict[str, float]]:
    """The start values of the run's learned parameters, by line."""
    op, rules, _ = settings.course(-1)
    both = joined(op, rules, settings.parameters, settings.learn, settings.learned)
    names = [each.name for each in both.learned]
    return [dict(zip(names, values, strict=True)) for values in both.starts] or [{} for _ in rules]


def _add(
    functions: Functions, op: Op, rule: Rule, numbers: dict[str, dict[str, int]], settings: Settings
) -> str:
    """The name of an op with a rule; own formulas are numbered in their order."""
    its, learns = resolve_values(op, rule, settings.parameters), learned_with(op, rule, settings.learn)
    op_number, rule_number = (
        known.setdefault(key, len(known) + 1)
        for known, key in ((numbers["op"], op.key), (numbers["rule"], rule.key))
    )
    named = rule if rule.key.isidentifier() else replace(rule, key=f"rule_{rule_number}")
    own = op.key.isidentifier() or op_number == 1
    op = op if own else replace(op, key=f"op_{op_number}")
    name = _put(functions, op, named, its, learns)
    if op.judged is not None:
        judged = replace(
            op.evaluation_op,
            key=f"{op.key}_judged",
            label=f"{op.label}, judged",
            purpose="What stands in its place where nets are judged.",
        )
        functions.judged[name] = _put(functions, judged, find_rule("default"), {}, ())
    return name


def _put(
    functions: Functions, op: Op, rule: Rule, parameters: Mapping[str, float], learns: Sequence[str]
) -> str:
    name, code = function_code(op, rule, parameters, learns)
    functions.code[name], functions.learns[name] = code, tuple(learns)
    functions.takes[name] = paired(op, rule, parameters, learns).given
    return name


def learns_code(functions: Functions) -> str:
    """Code for the table of learned parameters by function."""
    return f"\n# The arguments behind x, which get a gradient.\nlearns = {functions.learns}\n"


def has_turns(settings: Settings) -> bool:
    """Whether any line goes on with another op or rule."""
    return any(name != "lr" for _, name, _ in settings.branch)
