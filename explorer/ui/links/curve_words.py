"""Parsing of the query parameters about curves: op, backward rules, their parameters and the chart's view."""

import re
from collections.abc import Sequence
from typing import Any

from explorer.catalogue import MAX_RULES, Op, Parameter, Rule, find_loss, find_op, find_rule, list_learnable
from explorer.catalogue.records import MAX_ABS_X
from explorer.curves import MIN_RANGE, MIN_RELATIVE_RANGE
from explorer.formula import FormulaError
from explorer.instrument.limits import find_reach
from explorer.instrument.view import VIEW, QueryParameter
from explorer.training.instruments.slow_motion.stages import STAGE_KEYS
from explorer.training.settings import NUMBER
from explorer.ui.links import choice
from explorer.ui.links.choice import PREFIX, QUERY_KEYS, Choice, collect_parameters, is_stochastic
from explorer.ui.links.reader import Query, Reader, quote, with_pluses

_SLOW = re.compile(rf"({'|'.join(STAGE_KEYS)})(,[1-9][0-9]{{0,3}}){{0,4}}")
_COLOURS = "".join(map(str, range(1, MAX_RULES + 1)))
_DEFAULT = Choice()


class CurveReader(Reader):
    """A parser of the query parameters that describe a chart's curves."""

    def __init__(self, query: Query, notices: list[str]) -> None:
        super().__init__(query, notices)
        self._losses: dict[str, str] = {}  # formulas by query parameter; the parameters depend on them

    def read_choice(self) -> Choice:
        """Parse a link's op, backward rules, parameters and chart view; other fields have their defaults."""
        text = self.pop_last("op")
        shown = f" {find_op(_DEFAULT.op).label} is shown."
        op = (text is not None and self.find_key(text, "op", find_op, shown)) or _DEFAULT.op
        rules = self._read_rules()
        entries = find_op(op), [find_rule(rule) for rule in rules]
        return Choice(
            op=op,
            rules=rules,
            hide=self._read_hidden(rules),
            colours=self._read_colours(rules),
            slow=self._read_slow(),
            parameters=self._read_parameters(*entries),
            learns=self._read_learns(*entries),
            **self._read_view(),
        )

    def _read_rules(self) -> tuple[str, ...]:
        names = self.query.pop("rule", []) + self.query.pop("rules", [])
        keys = [self.find_key(name, "rule", find_rule) for name in names]
        rules = tuple(dict.fromkeys(filter(None, keys)))
        if len(rules) > MAX_RULES:
            self.add_notice(f"The link names {len(rules)} rules: the first {MAX_RULES} are shown.")
        return rules[:MAX_RULES] or _DEFAULT.rules

    def _read_hidden(self, rules: Sequence[str]) -> tuple[str, ...]:
        keys = self.query.pop("hide", [])
        if unknown := [key for key in keys if key not in rules]:
            self.add_notice(f"The link hides {quote(unknown[0])}, which is not among its rules.")
        return tuple(key for key in rules if key in keys)

    def _read_colours(self, rules: Sequence[str]) -> str:
        colours = self.pop_last("colours") or _DEFAULT.colours
        if colours and not (
            len(rules) == len(colours) == len(set(colours)) and set(colours) <= set(_COLOURS)
        ):
            self.add_notice(
                f"The link's colours {quote(colours)} do not suit its {len(rules)} rules: "
                f"each needs another digit from 1 to {MAX_RULES}."
            )
            return _DEFAULT.colours
        return "" if colours == _COLOURS[: len(rules)] else colours

    def _read_slow(self) -> str:
        slow = self.pop_last("slow") or ""
        if not slow or _SLOW.fullmatch(slow):
            return slow
        self.add_notice(
            f"The link asks for slow = {quote(slow)}: it must be a stage and the numbers of rule, layer, "
            "unit and row, such as slow=gradient,2,1,15,28. Slow motion is left closed."
        )
        return _DEFAULT.slow

    def _read_parameters(self, op: Op, rules: Sequence[Rule]) -> dict[str, float]:
        loss = find_loss(self._read_loss(VIEW["f"]))
        controls = collect_parameters(op, rules, loss if is_stochastic(op, rules) else None)
        texts = {key: self.pop_last(_to_query_key(key)) for key in controls}
        plain = {p.display_name for key, p in controls.items() if p.display_name != key}
        shared = {
            name: texts[name] if name in texts else self.pop_last(_to_query_key(name))
            for name in sorted(plain)
        }
        values = {}
        for key, parameter in controls.items():
            # A name without a rule sets the parameter of every rule. In older links, which shared it with the
            # op, it sets only the rules that accept the value.
            text = shared.get(parameter.display_name) if texts[key] is None else texts[key]
            if text is None or (texts[key] is None and parameter.plain and not _is_possible(text, parameter)):
                continue
            values[key] = self.parse_number(key, text, parameter.default, *find_reach(parameter))
        settings, notices = choice.sort_bounds(op, rules, values)
        self.notices += notices
        return {key: value for key, value in settings.items() if value != controls[key].default}

    def _read_learns(self, op: Op, rules: Sequence[Rule]) -> str:
        name = self.pop_last("learns") or ""
        candidates = list(
            dict.fromkeys(candidate for rule in rules for candidate in list_learnable(op, rule))
        )
        if not name or name in candidates:
            return name
        clause = f"choose {', '.join(candidates)}" if candidates else "its op and rules have nothing to learn"
        self.add_notice(f"The link lets {quote(name)} learn, which it cannot: {clause}.")
        return _DEFAULT.learns

    def _read_view(self) -> dict[str, Any]:
        readers = {
            "number": self._read_number,
            "range": self._read_range,
            "choice": self._read_option,
            "loss": self._read_loss,
        }
        return {name: readers[word.kind](word) for name, word in VIEW.items()}

    def _read_number(self, word: QueryParameter) -> Any:
        text = self.pop_last(word.name)
        if text is None:
            return word.default
        return self.parse_number(word.name, text, word.default, word.low, word.high)

    def _read_loss(self, word: QueryParameter) -> str:
        """Parse the formula of the loss in a link.

        Older links have a number instead, which is read as a parameter of that name.
        """
        text = self._losses.get(word.name) or self.pop_last(word.name) or word.default
        if NUMBER.fullmatch(text):
            self.query.setdefault(_to_query_key(word.name), [text])
            text = word.default
        try:
            find_loss(text)
        except FormulaError as error:
            try:
                text = find_loss(with_pluses(text)).text
            except FormulaError:
                self.add_notice(word.refusal.format(text=quote(text), why=error.message))
                text = word.default
        self._losses[word.name] = text
        return text

    def _read_option(self, word: QueryParameter) -> Any:
        text = self.pop_last(word.name) or word.default
        if text in word.words or text == word.default:
            return text
        names = {"name": word.name, "text": quote(text), "default": quote(word.default)}
        self.add_notice(word.refusal.format(**names, words=", ".join(word.words)))
        return word.default

    def _read_range(self, word: QueryParameter) -> Any:
        ends = self.query.pop(word.name, [])
        if not ends:
            return word.default
        if len(ends) != 2:
            example = "&".join(f"{word.name}={end:.15g}" for end in word.default)
            self.add_notice(f"The link's {word.name} needs two values, such as {example}.")
            return word.default
        pairs = zip(ends, word.default, strict=True)
        start, stop = (self.parse_number(word.name, *pair, word.low, word.high) for pair in pairs)
        tidy, notices = tidy_range(start, stop)
        self.notices += notices
        return tidy


def tidy_range(start: float, stop: float) -> tuple[tuple[float, float], list[str]]:
    """Return two x within the bounds of a chart as a range that can be plotted, and messages about changes.

    A reversed range is swapped. A range that is empty or too narrow is widened by 1 on both sides, within the
    bounds.
    """
    low, high = min(start, stop), max(start, stop)
    if not high - low > max(MIN_RANGE, MIN_RELATIVE_RANGE * max(-low, high)):
        return (max(low - 1, -MAX_ABS_X), min(high + 1, MAX_ABS_X)), [
            f"The range {start:.15g} to {stop:.15g} is empty: it was widened by 1 on both sides."
        ]
    if start > stop:
        return (low, high), [f"The range {start:.15g} to {stop:.15g} is reversed: its ends were swapped."]
    return (low, high), []


def _is_possible(text: str, parameter: Parameter) -> bool:
    low, high = find_reach(parameter)
    return bool(NUMBER.fullmatch(text)) and low <= float(text) <= high


def _to_query_key(key: str) -> str:
    return PREFIX + key if key in QUERY_KEYS else key
