"""The interactive chart as a notebook widget, whose settings Python can read and change."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partialmethod
from itertools import count
from typing import Any

import numpy as np
import traitlets as t

from explorer.catalogue import SQUARE, Op, Rule, adapt_rule, find_loss, list_learnable, list_parameter_names
from explorer.curves import Curves, sample
from explorer.curves.interpolation import interpolate_functions
from explorer.curves.user_functions.entries import OpLike, RuleLike, resolve_op, resolve_rule
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
_SAMPLED = ("op", "rules", "range", "parameters")  # traits that ``explorer.sample`` takes in another form
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
    parameters, range, g, learns, f, layer, noise, noise_width, section = (
        t.Any().tag(sync=True) for _ in range(9)
    )
    _custom = t.Dict().tag(sync=True)  # definitions of ops, rules and losses that are not in the catalogue
    _saved = t.Dict().tag(sync=True)  # texts and answers for the initial curves

    # The ends of the range.
    start = property(lambda self: self.range[0], lambda self, x: self.set_trait("range", [x, self.stop]))
    stop = property(lambda self: self.range[1], lambda self, x: self.set_trait("range", [self.start, x]))

    def __init__(self, op: OpLike, rules: RuleLike | Sequence[RuleLike], **traits: Any) -> None:
        self._records: dict[Any, tuple[Any, Op | Rule]] = {}  # the user's functions, and what they became
        self._is_ready = False
        curves, view, values = self._sample({"op": op, "rules": _to_list(rules), "learns": "", **traits})
        super().__init__(**values)
        answers = collect_answers(curves.op, curves.rules, self.parameters, view, self.learns)
        self._saved = {"words": make_description(curves).texts, "answers": [list(each) for each in answers]}
        self._send_custom_entries()
        self._is_ready = True

    @property
    def choice(self) -> dict[str, Any]:
        """The keyword arguments with which ``explorer.sample`` computes the displayed curves."""
        names = ["op", "rules", "start", "stop", "g", "learns"]
        names += ["f"] if any(entry.is_random for entry in self._find_entries(self._values)) else []
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

    def _find_record(self, resolve: Callable[[Any], Any], entry: Any) -> Any:
        """Return the ``Op`` or ``Rule`` of a key or function. The same function always gives the same one."""
        if isinstance(entry, str):
            return resolve(entry)
        if (resolve, id(entry)) not in self._records:
            record = resolve(entry)
            if record is not entry:  # another function may have this name already
                record = replace(record, key=f"{record.key} {next(_number)}")
            self._records[resolve, id(entry)] = entry, record
        return self._records[resolve, id(entry)][1]

    find_op = partialmethod(_find_record, resolve_op)
    find_rule = partialmethod(_find_record, resolve_rule)

    def find_object(self, key: str) -> Any:
        """Return the function that the user passed and that has this key, or else the key itself."""
        return next((entry for entry, record in self._records.values() if record.key == key), key)

    @property
    def _values(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in TRAITS}

    def _find_entries(self, traits: Mapping[str, Any]) -> list[Any]:
        return [self.find_op(traits["op"]), *map(self.find_rule, traits["rules"])]

    def _sample(self, traits: Mapping[str, Any]) -> tuple[Curves, View, dict[str, Any]]:
        """Return the curves and the view for some traits, and the traits in normalised form.

        Raises ValueError or TypeError if a trait is invalid.
        """
        op, *rules = self._find_entries(traits)
        view_arguments = {name: value for name, value in traits.items() if name not in _SAMPLED}
        x_range, parameters = traits["range"], traits["parameters"]
        if np.shape(x_range) != (2,):
            raise ValueError(f"range must be two numbers, such as [-3, 3], got {x_range!r}")
        find_loss(traits.get("f", SQUARE))
        sampling = {"start": x_range[0], "stop": x_range[1], "sections": VIEW["section"].words, **parameters}
        curves, view = sample_view(op, rules, **view_arguments, **sampling)
        numbers = {name: float(x) for name, x in spread_parameters(curves.rules, parameters).items()}
        values = {name: getattr(view, name) for name in TRAITS if hasattr(view, name)}
        return curves, view, {**traits, **values, "range": [*view.range], "parameters": numbers}

    @t.validate(*TRAITS)
    def _validate(self, proposal: Any) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        if not self._is_ready:
            return value
        try:
            traits = self._values | {name: _to_list(value) if name == "rules" else value}
            known = self._keep_known(traits) if name in ("op", "rules") else {}
            return self._sample(traits | known)[2][name]
        except (ValueError, TypeError) as error:
            raise t.TraitError(str(error)) from None

    def _keep_known(self, traits: Mapping[str, Any]) -> dict[str, Any]:
        """Return the valid values of the traits ``parameters`` and ``learns``, after a change of op or rules.

        ``parameters`` loses those that neither op, rules nor loss have. ``learns`` becomes "" if no rule can
        learn that parameter.
        """
        op, *rules = entries = self._find_entries(traits)
        is_random = any(entry.is_random for entry in entries)
        known = list_parameter_names(op, rules, find_loss(traits["f"]) if is_random else None)
        kept = {name: value for name, value in traits["parameters"].items() if name in known}
        can_learn = any(traits["learns"] in list_learnable(op, adapt_rule(op, rule)) for rule in rules)
        return {"parameters": kept, "learns": traits["learns"] if can_learn else ""}

    @t.observe(*TRAITS)
    def _handle_change(self, change: Any) -> None:
        if not self._is_ready:
            return
        if change["name"] in ("op", "rules"):
            known = self._keep_known(self._values)
            with self.hold_trait_notifications():  # so that both traits are validated together
                self.parameters, self.learns = known["parameters"], known["learns"]
        self._saved = {}
        if change["name"] in ("op", "rules", "f", "range"):
            self._send_custom_entries()

    def _send_custom_entries(self) -> None:
        """Send those ops, rules and losses to the browser that are not in the catalogue.

        A Python function is sent as points in and around the visible range.
        """
        op, rules = interpolate_functions(self._sample(self._values)[0])
        self._custom = to_choice_data(op, rules, parameters={}, view=View(f=self.f))["own"]

    def answer_question(self, question: str, arguments: dict[str, Any]) -> Any:
        """Answer a request from the browser, such as one for checks or source code."""
        if question == "template":
            return make_saved_template()
        records = {record.key: record for _, record in self._records.values()}
        return QUESTIONS[question].answer(arguments, records)

    def draw_image(self) -> tuple[bytes, str]:
        """Return the curves as a PNG image, and a description of them."""
        curves = self._sample(self._values)[0]
        texts = make_description(curves).texts
        values = "".join(f", {name} = {value:g}" for name, value in curves.parameters.items())
        title = f"{curves.op.label} with {', '.join(curves.labels.values())}, x from {self.start:g} to "
        lines = (f"{title}{self.stop:g}, g = {self.g:g}{values}", texts["main"], texts["rest"])
        return draw_png(make_curve_spec(curves)), "\n".join(filter(None, lines))

    def __repr__(self) -> str:
        keywords = (f"{name}={value!r}" for name, value in self.choice.items() if value != "")
        return f"Instrument({', '.join(keywords)})"


def _to_list(rules: Any) -> list[Any]:
    return [*rules] if isinstance(rules, list | tuple) else [rules]
