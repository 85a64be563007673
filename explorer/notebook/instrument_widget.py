"""The interactive chart as a notebook widget, whose settings Python can read and change."""

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
    list_parameter_names,
)
from explorer.curves import Curves, sample
from explorer.curves.foreign.entries import OpLike, RuleLike, resolve_op, resolve_rule
from explorer.curves.interpolation import interpolate_functions
from explorer.description import make_description
from explorer.description.figures import make_curve_spec
from explorer.instrument import to_choice_data
from explorer.instrument.page import make_saved_template
from explorer.instrument.view import SAVED_SECTIONS, VIEW, View
from explorer.notebook.cell import Cell
from explorer.notebook.image import draw_png
from explorer.questions import QUESTIONS
from explorer.questions.standalone import collect_answers, make_page, sample_view, spread_parameters

TRAITS = ("op", "rules", "parameters", "learns", *(name for name in VIEW if name != "tools"))
_number = count(1)


class Instrument(Cell):
    """An interactive chart of an op and its backward rules in a notebook.

    Set its traits to move the curves, and ``observe`` them to follow the user. An invalid value raises
    TraitError. Functions that were given as op or rule remain the same objects.
    """

    _kind = t.Unicode("instrument").tag(sync=True)
    op = t.Any().tag(
        sync=True,
        to_json=lambda op, widget: widget.find_op(op).key,
        from_json=lambda key, widget: widget.find_object(key),
    )
    rules = t.Any().tag(
        sync=True,
        to_json=lambda rules, widget: [widget.find_rule(rule).key for rule in rules],
        from_json=lambda keys, widget: [widget.find_object(key) for key in keys],
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
    _custom = t.Dict().tag(sync=True)  # definitions of ops and rules that are not in the catalogue
    _words = t.Dict().tag(sync=True)
    _answers: Any = t.List().tag(sync=True)

    start = property(
        lambda self: float(self.range[0]),
        lambda self, x: self.set_trait("range", [x, self.stop]),
        doc="The left end of the range.",
    )
    stop = property(
        lambda self: float(self.range[1]),
        lambda self, x: self.set_trait("range", [self.start, x]),
        doc="The right end of the range.",
    )

    def __init__(self, op: OpLike, rules: RuleLike | Sequence[RuleLike], **traits: Any) -> None:
        # The function that the user passed, with its Op or Rule, by key.
        self._objects: dict[str, tuple[Any, Op | Rule]] = {}
        self._is_ready = False
        curves, view, values = self._sample({"op": op, "rules": rules, "learns": "", **traits})
        super().__init__(**values)
        self._words = dict(make_description(curves).texts)
        answers = collect_answers(curves.op, curves.rules, values["parameters"], view, values["learns"])
        self._answers = [list(answer) for answer in answers]
        self._send_custom_entries()
        self._is_ready = True

    @property
    def choice(self) -> dict[str, Any]:
        """The keyword arguments with which ``explorer.sample`` computes the displayed curves."""
        names = ["op", "rules", "start", "stop", "g", "learns"]
        names += ["f"] if any(entry.is_random for entry in self._entries) else []
        return {**{name: getattr(self, name) for name in names}, **self.parameters}

    @property
    def frame(self) -> Any:
        """The displayed curves as the DataFrame that ``explorer.sample`` returns."""
        return sample(**self.choice)

    def html(self) -> str:
        """Return the chart in its current state as an HTML file that needs no kernel."""
        view = {name: getattr(self, name) for name in ("layer", "noise", "noise_width")}
        section = self.section if self.section in SAVED_SECTIONS else ""
        return make_page(**self.choice, **view, section=section).html()

    def find_op(self, op: OpLike) -> Any:
        """Return the ``Op`` for a key or function. The same function always gives the same ``Op``."""
        return self._find_record(resolve_op, Op, op)

    def find_rule(self, rule: RuleLike) -> Any:
        """Return the ``Rule`` for a key or function. The same function always gives the same ``Rule``."""
        return self._find_record(resolve_rule, Rule, rule)

    def find_object(self, key: str) -> Any:
        """Return the function that the user passed as an op or rule and that has this key.

        A key from the catalogue is returned itself.
        """
        return self._objects.get(key, (key,))[0]

    def _find_record(self, resolve: Any, kind: type, entry: Any) -> Any:
        if isinstance(entry, str):
            return resolve(entry)
        for user_object, record in self._objects.values():
            if user_object is entry and isinstance(record, kind):
                return record
        record = resolve(entry)
        if not isinstance(entry, kind):  # another function has this name already
            record = replace(record, key=f"{record.key} {next(_number)}")
        self._objects[record.key] = entry, record
        return record

    @property
    def _entries(self) -> list[Any]:
        return [self.find_op(self.op), *map(self.find_rule, self.rules)]

    @property
    def _values(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in TRAITS}

    def _sample(self, traits: Mapping[str, Any], **sampling: Any) -> tuple[Curves, View, dict[str, Any]]:
        """Return the curves for the given traits, and the traits in normalised form.

        Raises ValueError or TypeError if a trait is invalid.
        """
        view_arguments = dict(traits)
        op, rules, x_range, parameters = (
            view_arguments.pop(name) for name in ("op", "rules", "range", "parameters")
        )
        rules = [*rules] if isinstance(rules, list | tuple) else [rules]
        if np.shape(x_range) != (2,):
            raise ValueError(f"range must be two numbers, such as [-3, 3], got {x_range!r}")
        find_loss(view_arguments.get("f", SQUARE))
        sampling |= {"start": x_range[0], "stop": x_range[1], "sections": VIEW["section"].words, **parameters}
        op_record, records = self.find_op(op), [self.find_rule(rule) for rule in rules]
        curves, view = sample_view(op_record, records, **view_arguments, **sampling)
        numbers = {name: float(x) for name, x in spread_parameters(curves.rules, parameters).items()}
        view_values = {name: getattr(view, name) for name in TRAITS if hasattr(view, name)}
        normalized = {"rules": rules, "range": [*view.range], "parameters": numbers}
        return curves, view, {**traits, **view_values, **normalized}

    @t.validate(*TRAITS)
    def _validate(self, proposal: Any) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        if not self._is_ready:
            return value
        traits = self._values | {name: value}
        try:
            if name in ("op", "rules"):
                traits |= self._keep_known(traits)
            return self._sample(traits, points=3)[2][name]
        except (ValueError, TypeError) as error:
            raise t.TraitError(str(error)) from None

    def _keep_known(self, traits: Mapping[str, Any]) -> dict[str, Any]:
        """Return ``parameters`` without those that neither op, rules nor loss have, and ``learns``.

        ``learns`` becomes "" if no rule can learn that parameter.
        """
        rules, learns = traits["rules"], traits["learns"]
        op = self.find_op(traits["op"])
        records = [self.find_rule(rule) for rule in (rules if isinstance(rules, list | tuple) else [rules])]
        is_random = any(entry.is_random for entry in (op, *records))
        known = list_parameter_names(op, records, find_loss(traits["f"]) if is_random else None)
        can_learn = any(learns in list_learnable(op, adapt_rule(op, rule)) for rule in records)
        kept = {name: value for name, value in traits["parameters"].items() if name in known}
        return {"parameters": kept, "learns": learns if can_learn else ""}

    @t.observe(*TRAITS)
    def _handle_change(self, change: Any) -> None:
        if not self._is_ready:
            return
        if change["name"] in ("op", "rules"):
            known = self._keep_known(self._values)
            with self.hold_trait_notifications():  # so that both traits are validated together
                self.parameters, self.learns = known["parameters"], known["learns"]
        self._words, self._answers = {}, []  # they belong to the initial curves only
        if change["name"] in ("op", "rules", "f") or (change["name"] == "range" and self._objects):
            self._send_custom_entries()

    def _send_custom_entries(self) -> None:
        """Send those ops and rules to the browser that are not in the catalogue.

        A Python function is sent as points in and around the visible range.
        """
        entries = self._entries
        if self._objects:
            op, rules = interpolate_functions(self._sample(self._values)[0])
            entries = [op, *rules]
        is_known = all(entry.key in OPS or entry.key in RULES for entry in entries) and self.f == SQUARE
        data = to_choice_data(entries[0], entries[1:], parameters={}, view=View(f=self.f))
        self._custom = {} if is_known else data["own"]

    def answer_question(self, question: str, arguments: dict[str, Any]) -> Any:
        """Answer a request from the browser, such as one for checks or source code."""
        if question == "template":
            return make_saved_template()
        records = {key: record for key, (_, record) in self._objects.items()}
        return QUESTIONS[question].answer(arguments, records)

    def draw_image(self) -> tuple[bytes, str]:
        """Return the curves as a PNG image, and a description of them."""
        curves = self._sample(self._values)[0]
        texts = make_description(curves).texts
        values = "".join(f", {name} = {value:g}" for name, value in curves.parameters.items())
        lines = (
            f"{curves.op.label} with {', '.join(curves.labels.values())}, "
            f"x from {self.start:g} to {self.stop:g}, g = {self.g:g}{values}",
            texts["main"],
            texts["rest"],
        )
        return draw_png(make_curve_spec(curves)), "\n".join(line for line in lines if line)

    def __repr__(self) -> str:
        keywords = (f"{name}={value!r}" for name, value in self.choice.items() if value != "")
        return f"Instrument({', '.join(keywords)})"
