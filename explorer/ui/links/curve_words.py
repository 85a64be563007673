"""The words of a link about curves: op, rules and their parameters, and how they are looked at."""

import re
from collections.abc import Sequence
from typing import Any

from explorer.catalogue import MOST_RULES, Op, Parameter, Rule, find_loss, find_op, find_rule, learnable
from explorer.catalogue.records import LARGEST_RANGE
from explorer.curves import MIN_RANGE, MIN_RELATIVE_RANGE
from explorer.formula import FormulaError
from explorer.instrument.limits import reach
from explorer.instrument.view import VIEW, Word
from explorer.training.instruments.slow_motion.stages import STAGE_KEYS
from explorer.training.settings import NUMBER
from explorer.ui.links.choice import PREFIX, WORDS, Choice, draws, ordered, parameters_of
from explorer.ui.links.reader import Query, Reader, quoted, with_pluses

_SLOW = re.compile(rf"({'|'.join(STAGE_KEYS)})(,[1-9][0-9]{{0,3}}){{0,4}}")
_COLOURS = "".join(map(str, range(1, MOST_RULES + 1)))
_DEFAULT = Choice()


class CurveReader(Reader):
    """The reader of the words about curves."""

    def __init__(self, query: Query, notices: list[str]) -> None:
        super().__init__(query, notices)
        self._losses: dict[str, str] = {}  # by their words: they are read before parameters are

    def choice(self) -> Choice:
        """The choice of curves, all else at its default."""
        op, rules = self._op(), self._rules()
        entries = find_op(op), [find_rule(rule) for rule in rules]
        return Choice(
            op=op,
            rules=rules,
            hide=self._hide(rules),
            colours=self._colours(rules),
            slow=self._slow(),
            parameters=self._parameters(*entries),
            learns=self._learns(*entries),
            **self._view(),
        )

    def _op(self) -> str:
        text = self.last("op")
        if text is None:
            return _DEFAULT.op
        return self.key(text, "op", find_op) or _DEFAULT.op

    def _rules(self) -> tuple[str, ...]:
        keys = [self.key(text, "rule", find_rule) for text in self.query.pop("rule", [])]
        rules = tuple(dict.fromkeys(filter(None, keys)))
        if len(rules) > MOST_RULES:
            self.note(f"The link names {len(rules)} rules: the first {MOST_RULES} are shown.")
        return rules[:MOST_RULES] or _DEFAULT.rules

    def _hide(self, rules: Sequence[str]) -> tuple[str, ...]:
        hidden = self.query.pop("hide", [])
        if unknown := [key for key in hidden if key not in rules]:
            self.note(f"The link hides {quoted(unknown[0])}, which is not among its rules.")
        return tuple(key for key in rules if key in hidden)

    def _colours(self, rules: Sequence[str]) -> str:
        colours = self.last("colours") or _DEFAULT.colours
        if colours and not (
            len(rules) == len(colours) == len(set(colours)) and set(colours) <= set(_COLOURS)
        ):
            self.note(
                f"The link's colours {quoted(colours)} do not suit its {len(rules)} rules: "
                f"each needs another digit from 1 to {MOST_RULES}."
            )
            return _DEFAULT.colours
        return "" if colours == _COLOURS[: len(rules)] else colours

    def _slow(self) -> str:
        slow = self.last("slow") or ""
        if not slow or _SLOW.fullmatch(slow):
            return slow
        self.note(
            f"The link asks for slow = {quoted(slow)}: it must be a stage and the numbers of rule, layer, "
            "unit and row, such as slow=gradient,2,1,15,28. Slow motion is left closed."
        )
        return _DEFAULT.slow

    def _parameters(self, op: Op, rules: Sequence[Rule]) -> dict[str, float]:
        loss = find_loss(self._loss(VIEW["f"]))
        controls = parameters_of(op, rules, loss if draws(op, rules) else None)
        texts = {key: self.last(_word(key)) for key in controls}
        plain = {p.shown for key, p in controls.items() if p.shown != key}
        shared = {name: texts[name] if name in texts else self.last(_word(name)) for name in sorted(plain)}
        values = {}
        for key, parameter in controls.items():
            # A plain name means every rule that has it; where it is the op's in another meaning, as in links
            # from when the two were one, the rules for which the value means something.
            text = shared.get(parameter.shown) if texts[key] is None else texts[key]
            if text is None or (texts[key] is None and parameter.plain and not _is_possible(text, parameter)):
                continue
            values[key] = self.value(key, text, parameter.default, *reach(parameter))
        settings, notices = ordered(op, rules, values)
        self.notices += notices
        return {key: value for key, value in settings.items() if value != controls[key].default}

    def _learns(self, op: Op, rules: Sequence[Rule]) -> str:
        name = self.last("learns") or ""
        known = list(dict.fromkeys(each for rule in rules for each in learnable(op, rule)))
        if not name or name in known:
            return name
        can = f"what can is {', '.join(known)}" if known else "nothing of its op and rules can"
        self.note(f"The link lets {quoted(name)} learn, which cannot: {can}.")
        return _DEFAULT.learns

    def _view(self) -> dict[str, Any]:
        """The words of ``VIEW``, each by its kind."""
        read = {"number": self._number, "range": self._range, "choice": self._one_of, "loss": self._loss}
        return {name: read[word.kind](word) for name, word in VIEW.items()}

    def _number(self, word: Word) -> Any:
        text = self.last(word.name)
        if text is None:
            return word.default
        return self.value(word.name, text, word.default, word.low, word.high)

    def _loss(self, word: Word) -> str:
        """The formula of a loss; a number is a parameter of that name, as in older links."""
        text = self._losses.get(word.name) or self.last(word.name) or word.default
        if NUMBER.fullmatch(text):
            self.query.setdefault(_word(word.name), [text])
            text = word.default
        try:
            find_loss(text)
        except FormulaError as error:
            try:
                text = find_loss(with_pluses(text)).text
            except FormulaError:
                self.note(word.refusal.format(text=quoted(text), why=error.message))
                text = word.default
        self._losses[word.name] = text
        return text

    def _one_of(self, word: Word) -> Any:
        text = self.last(word.name) or word.default
        if text in word.words or text == word.default:
            return text
        names = {"name": word.name, "text": quoted(text), "default": quoted(word.default)}
        self.note(word.refusal.format(**names, words=", ".join(word.words)))
        return word.default

    def _range(self, word: Word) -> Any:
        ends = self.query.pop(word.name, [])
        if not ends:
            return word.default
        if len(ends) != 2:
            example = "&".join(f"{word.name}={end:.15g}" for end in word.default)
            self.note(f"The link's {word.name} needs two values, such as {example}.")
            return word.default
        pairs = zip(ends, word.default, strict=True)
        start, stop = (self.value(word.name, *pair, word.low, word.high) for pair in pairs)
        tidied, notices = tidy_range(start, stop)
        self.notices += notices
        return tidied


def tidy_range(start: float, stop: float) -> tuple[tuple[float, float], list[str]]:
    """A range that can be drawn, and a notice if it was changed: swapped if reversed, widened if empty."""
    low, high = min(start, stop), max(start, stop)
    if not high - low > max(MIN_RANGE, MIN_RELATIVE_RANGE * max(-low, high)):
        return (max(low - 1, -LARGEST_RANGE), min(high + 1, LARGEST_RANGE)), [
            f"The range {start:.15g} to {stop:.15g} is empty: it was widened by 1 on both sides."
        ]
    if start > stop:
        return (low, high), [f"The range {start:.15g} to {stop:.15g} is reversed: its ends were swapped."]
    return (low, high), []


def _is_possible(text: str, parameter: Parameter) -> bool:
    """Whether a text is a number that a link may hold for a parameter."""
    low, high = reach(parameter)
    return bool(NUMBER.fullmatch(text)) and low <= float(text) <= high


def _word(key: str) -> str:
    """The name of a parameter in a link."""
    return PREFIX + key if key in WORDS else key
