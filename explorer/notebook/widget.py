"""The instrument as a widget: its choice can be read and set in Python, and follows the hand."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np
import traitlets as t

from explorer.catalogue import (
    OPS,
    RULES,
    SQUARE,
    Op,
    Rule,
    adapt_rule,
    find_loss,
    list_learnable,
    qualify_name,
)
from explorer.curves import Curves, sample
from explorer.curves.foreign import OpLike, RuleLike, resolve_op, resolve_rule
from explorer.curves.interpolation import interpolate_functions
from explorer.description import make_description
from explorer.description.figures import make_curve_spec
from explorer.instrument import to_choice_data
from explorer.instrument.page import make_saved_template
from explorer.instrument.view import SECTIONS, View
from explorer.notebook.cell import Cell
from explorer.notebook.still import draw_png
from explorer.questions import QUESTIONS
from explorer.questions.standalone import collect_answers, make_page, sample_view, spread_parameters

_CHOSEN = (
    "op", "rules", "parameters", "range", "g", "learns", "f", "layer", "noise", "noise_width", "section",
)  # fmt: skip
_count = count(1)


def _op_to_json(given: OpLike, widget: "Instrument") -> str:
    return widget.find_op(given).key


def _rules_to_json(given: Sequence[RuleLike], widget: "Instrument") -> list[str]:
    return [widget.find_rule(each).key for each in given]


class Instrument(Cell):
    """An instrument in a notebook. Set its traits, and the curves move; ``observe`` them to follow the hand.

    A wrong value raises TraitError. What was given as a function stays that object.
    """

    op = t.Any().tag(sync=True, to_json=_op_to_json, from_json=lambda key, widget: widget.find_given(key))
    rules = t.Any().tag(
        sync=True, to_json=_rules_to_json, from_json=lambda keys, widget: [*map(widget.find_given, keys)]
    )
    parameters = t.Any().tag(sync=True)
    range = t.Any().tag(sync=True)
    g = t.Any(1.0).tag(sync=True)
    learns = t.Any("").tag(sync=True)
    f = t.Any(SQUARE).tag(sync=True)
    layer = t.Any("").tag(sync=True)
    noise = t.Any("uniform").tag(sync=True)
    noise_width = t.Any(1.0).tag(sync=True)
    section = t.Any("").tag(sync=True)
    _own = t.Dict().tag(sync=True)
    _words = t.Dict().tag(sync=True)
    _answers: Any = t.List().tag(sync=True)

    def __init__(self, op: OpLike, rules: RuleLike | Sequence[RuleLike], **chosen: Any) -> None:
        self._given: dict[str, tuple[Any, Op | Rule]] = {}  # by key
        self._is_ready = False
        several = [*rules] if isinstance(rules, list | tuple) else [rules]
        start = {"op": op, "rules": several, "learns": "", **chosen}
        curves, view = self._look(start)
        values = spread_parameters(curves.rules, start["parameters"])
        super().__init__("instrument", **start | self._normalise(view) | {"parameters": values})
        self._words = dict(make_description(curves).texts)
        answers = collect_answers(curves.op, curves.rules, values, view, start["learns"])
        self._answers = [[*each] for each in answers]
        self._tell_own()
        self._is_ready = True

    @property
    def choice(self) -> dict[str, Any]:
        """The keywords of ``explorer.sample`` for what is shown now."""
        start, stop = self.range
        curves: dict[str, Any] = {
            "op": self.op,
            "rules": self.rules,
            "start": start,
            "stop": stop,
            "g": self.g,
        }
        draws = any(each.is_random for each in self._entries)
        return {**curves, "learns": self.learns, **({"f": self.f} if draws else {}), **self.parameters}

    @property
    def frame(self) -> Any:
        """What is shown now as the DataFrame of ``explorer.sample``."""
        return sample(**self.choice)

    @property
    def start(self) -> float:
        """The left end of the range."""
        return float(self.range[0])

    @start.setter
    def start(self, x: float) -> None:
        self.range = [x, self.stop]

    @property
    def stop(self) -> float:
        """The right end of the range."""
        return float(self.range[1])

    @stop.setter
    def stop(self, x: float) -> None:
        self.range = [self.start, x]

    def html(self) -> str:
        """Return what is shown now as one file that needs no kernel."""
        view = {name: getattr(self, name) for name in ("layer", "noise", "noise_width")}
        try:
            return make_page(**self.choice, **view, section=self.section).html()
        except ValueError:  # a saved file has no such section
            return make_page(**self.choice, **view).html()

    def find_op(self, given: OpLike) -> Op:
        """Return the record of an op, one and the same for a function given again."""
        record: Op = self._record(resolve_op, Op, given)
        return record

    def find_rule(self, given: RuleLike) -> Rule:
        """Return the record of a rule, one and the same for a function given again."""
        record: Rule = self._record(resolve_rule, Rule, given)
        return record

    def find_given(self, key: str) -> Any:
        """Return what Python gave for a key of the browser, or the key itself."""
        return self._given[key][0] if key in self._given else key

    def _record(self, find: Any, kind: type, given: Any) -> Any:
        if isinstance(given, str):
            return find(given)
        for known, record in self._given.values():
            if known is given and isinstance(record, kind):
                return record
        record = find(given)
        if not isinstance(given, kind):  # functions of one name are told apart, on the whole page
            record = replace(record, key=f"{record.key} {next(_count)}")
        self._given[record.key] = given, record
        return record

    @property
    def _entries(self) -> list[Any]:
        return [self.find_op(self.op), *map(self.find_rule, self.rules)]

    def _look(self, chosen: Mapping[str, Any], **more: Any) -> tuple[Curves, View]:
        """Return curves and view of a choice. Raises ValueError with a sentence."""
        some = {name: value for name, value in chosen.items() if name in _CHOSEN}
        op, rules = self.find_op(some.pop("op")), [*map(self.find_rule, some.pop("rules"))]
        (start, stop), parameters = some.pop("range"), dict(some.pop("parameters"))
        return sample_view(op, rules, start=start, stop=stop, sections=SECTIONS, **some | parameters | more)

    @staticmethod
    def _normalise(view: View) -> dict[str, Any]:
        names = set(_CHOSEN) & set(vars(view))
        return {name: getattr(view, name) for name in names} | {"range": [*view.range]}

    @t.validate(*_CHOSEN)
    def _require(self, proposal: Any) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        if not self._is_ready:
            return value
        chosen = {each: getattr(self, each) for each in _CHOSEN} | {name: value}
        try:
            if name == "rules" and not isinstance(value, list | tuple):
                chosen[name] = value = [value]
            if name in ("op", "rules"):
                chosen |= self._keep_known(chosen)
            if name == "range" and np.shape(value) != (2,):
                raise ValueError(f"range must be two numbers, such as [-3, 3], not {value!r}")
            find_loss(chosen["f"])
            curves, view = self._look(chosen, points=3)
        except (ValueError, TypeError) as error:
            raise t.TraitError(str(error)) from None
        if name == "parameters":
            return {key: float(each) for key, each in spread_parameters(curves.rules, value).items()}
        return [*value] if name == "rules" else self._normalise(view).get(name, value)

    def _keep_known(self, chosen: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of a choice that its op and rules know."""
        op = self.find_op(chosen["op"])
        rules = [adapt_rule(op, self.find_rule(rule)) for rule in chosen["rules"]]
        drawn = find_loss(chosen["f"]).parameters if any(each.is_random for each in (op, *rules)) else ()
        known = {p.name for each in (op, *rules) for p in each.parameters} | {p.name for p in drawn}
        known |= {qualify_name(rule, p) for rule in rules for p in rule.parameters}
        learns = (
            chosen["learns"] if any(chosen["learns"] in list_learnable(op, rule) for rule in rules) else ""
        )
        kept = {name: value for name, value in chosen["parameters"].items() if name in known}
        return {"parameters": kept, "learns": learns}

    @t.observe(*_CHOSEN)
    def _follow(self, change: Any) -> None:
        if not self._is_ready:
            return
        if change["name"] in ("op", "rules"):
            known = self._keep_known({each: getattr(self, each) for each in _CHOSEN})
            with self.hold_trait_notifications():  # which looks at both together
                self.parameters, self.learns = known["parameters"], known["learns"]
        self._words, self._answers = {}, []  # those of the start
        if change["name"] in ("op", "rules", "f") or (change["name"] == "range" and self._given):
            self._tell_own()

    def _tell_own(self) -> None:
        """Send the browser the entries that no catalogue has, a function as points around the range."""
        entries = self._entries
        if self._given:
            op, rules = interpolate_functions(self._look({name: getattr(self, name) for name in _CHOSEN})[0])
            entries = [op, *rules]
        known = all(entry.key in OPS or entry.key in RULES for entry in entries) and self.f == SQUARE
        view = View(f=self.f)
        self._own = {} if known else to_choice_data(entries[0], entries[1:], parameters={}, view=view)["own"]

    def answer_question(self, question: str, arguments: dict[str, Any]) -> Any:
        """Return the answer of the registry, or what a saved file is made of."""
        if question == "template":
            return make_saved_template()
        records = {key: record for key, (_, record) in self._given.items()}
        return QUESTIONS[question].answer(arguments, records)

    def draw_still(self) -> tuple[bytes, str]:
        """Return the curves as a PNG, and the sentences on them."""
        curves, _ = self._look({name: getattr(self, name) for name in _CHOSEN})
        words = make_description(curves).texts
        rules = ", ".join(curves.labels.values())
        values = "".join(f", {name} = {value:g}" for name, value in curves.parameters.items())
        head = (
            f"{curves.op.label} with {rules}, x from {self.start:g} to {self.stop:g}, g = {self.g:g}{values}"
        )
        return draw_png(make_curve_spec(curves)), "\n".join(
            filter(None, (head, words["main"], words["rest"]))
        )

    def __repr__(self) -> str:
        words = (f"{name}={value!r}" for name, value in self.choice.items() if value != "")
        return f"Instrument({', '.join(words)})"
