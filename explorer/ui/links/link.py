"""The reader of a choice from the query of a link.

The instrument writes the query, into the address bar and into its requests to Python. Each value that
cannot be used has a notice.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlencode

from explorer.catalogue import (
    MOST_RULES,
    OWN,
    Op,
    Parameter,
    Rule,
    find_loss,
    find_op,
    find_rule,
    hint,
    learnable,
)
from explorer.curves import LEAST_RANGE, NARROWEST_RANGE
from explorer.formula import FormulaError
from explorer.formula.quoting import LONGEST_QUOTE, shortened
from explorer.instrument.limits import LONGEST_QUERY, reach
from explorer.instrument.view import VIEW, Word
from explorer.sampled import LARGEST_RANGE
from explorer.study import usual_rates
from explorer.training import FIRST, SETTINGS, TASKS, USUAL, Setting
from explorer.training.instruments.slow_motion.stages import STAGE_KEYS
from explorer.training.limits import LARGEST_LR, MAX_BRANCHES, SMALLEST_LR
from explorer.training.nets import checked_learn
from explorer.training.settings import NUMBER, Branch, checked_branches, read_branch
from explorer.ui.links.choice import PREFIX, WORDS, Choice, draws, ordered, parameters_of

LONGEST_REASON = 200
MOST_RATES = 20  # of a study
MOST_VALUES = 20  # of a parameter that a study sweeps
_SLOW = re.compile(rf"({'|'.join(STAGE_KEYS)})(,[1-9][0-9]{{0,3}}){{0,4}}")

_EMBED = re.compile(r"(?:^|&)embed=([^&]*)")
_LONGEST_TEXT = 3 * LONGEST_QUERY  # where every character is written as %XX
_TOO_LONG = f"The link is longer than {LONGEST_QUERY} characters and was not used."

Query = dict[str, list[str]]

_DEFAULT = Choice()
_COLOURS = "".join(map(str, range(1, MOST_RULES + 1)))


def query_length(query: Mapping[str, Sequence[str]]) -> int:
    """Characters of the query as it stands in the address bar."""
    return len(urlencode(query, doseq=True, errors="replace"))


def from_text(query: str) -> tuple[Choice, list[str]]:
    """The choice of a query as ``from_query`` reads it; one that is far too long is not parsed."""
    if len(query) > _LONGEST_TEXT:
        return _DEFAULT, [_TOO_LONG]
    return from_query(parse_qs(query, keep_blank_values=True))


def is_embedded(query: str) -> bool:
    """Whether a query asks for the page as a frame: any length of it is looked through once."""
    return [text.lower() for text in _EMBED.findall(query)][-1:] == ["true"]


def from_query(query: Mapping[str, Sequence[str]]) -> tuple[Choice, list[str]]:
    """The choice of a link, and a notice for each value that cannot be used.

    Never raises. Unknown and impossible values are at their default; a reversed range is swapped.
    """
    query, shortened = _within_length(query)
    if query_length(query) > LONGEST_QUERY:
        return _DEFAULT, [_TOO_LONG]
    reader = _Reader(query)
    reader.notices += shortened
    op = reader.op()
    rules = reader.rules()
    choice = Choice(
        op=op,
        rules=rules,
        hide=reader.hide(rules),
        colours=reader.colours(rules),
        slow=reader.slow(),
        parameters=reader.parameters(find_op(op), [find_rule(rule) for rule in rules]),
        learns=reader.learns(find_op(op), [find_rule(rule) for rule in rules]),
        **reader.view(),
    )
    choice = reader.branches(reader.study(reader.training(choice)))
    rest = [
        f"The link sets {_quoted(key)}, which nothing here uses." for key in reader.query if reader.query[key]
    ]
    return choice, reader.notices + rest


def _within_length(query: Mapping[str, Sequence[str]]) -> tuple[Mapping[str, Sequence[str]], list[str]]:
    """A query without its first branch points, as far as it is too long, and a sentence that says so."""
    branches = list(query.get("branch", ()))
    left = branches[-MAX_BRANCHES:]
    if query_length(query) <= LONGEST_QUERY or not branches:
        return query, []
    while left and query_length({**query, "branch": left}) > LONGEST_QUERY:
        left = left[1:]
    which = f"the last {len(left)} of its {len(branches)} branch points are taken"
    return {**query, "branch": left}, [f"The link is longer than {LONGEST_QUERY} characters: {which}."]


def unjudged(query: Mapping[str, Sequence[str]]) -> list[str]:
    """A sentence where a link to a page of studies names the task that holds nothing out."""
    task = TASKS[USUAL]
    if list(query.get("task", ()))[-1:] != [task.key] or task.metric:
        return []
    return [
        f"The link's task {_quoted(task.key)} has no data to judge by, so rules cannot be studied on it: "
        f"{TASKS[FIRST].label} stands here instead."
    ]


class _Reader:
    def __init__(self, query: Mapping[str, Sequence[str]]) -> None:
        self.query: Query = {key: list(values) for key, values in query.items()}
        self.notices: list[str] = []
        self.losses: dict[str, str] = {}  # by their words: they are read before parameters are

    def note(self, sentence: str) -> None:
        self.notices.append(sentence)

    def last(self, key: str) -> str | None:
        values = self.query.pop(key, [])
        return values[-1] if values else None

    def op(self) -> str:
        text = self.last("op")
        if text is None:
            return _DEFAULT.op
        return self.key(text, "op", find_op) or _DEFAULT.op

    def rules(self) -> tuple[str, ...]:
        keys = [self.key(text, "rule", find_rule) for text in self.query.pop("rule", [])]
        rules = tuple(dict.fromkeys(filter(None, keys)))
        if len(rules) > MOST_RULES:
            self.note(f"The link names {len(rules)} rules: the first {MOST_RULES} are shown.")
        return rules[:MOST_RULES] or _DEFAULT.rules

    def hide(self, rules: Sequence[str]) -> tuple[str, ...]:
        hidden = self.query.pop("hide", [])
        if unknown := [key for key in hidden if key not in rules]:
            self.note(f"The link hides {_quoted(unknown[0])}, which is not among its rules.")
        return tuple(key for key in rules if key in hidden)

    def colours(self, rules: Sequence[str]) -> str:
        colours = self.last("colours") or _DEFAULT.colours
        if colours and not (
            len(rules) == len(colours) == len(set(colours)) and set(colours) <= set(_COLOURS)
        ):
            self.note(
                f"The link's colours {_quoted(colours)} do not suit its {len(rules)} rules: "
                f"each needs another digit from 1 to {MOST_RULES}."
            )
            return _DEFAULT.colours
        return "" if colours == _COLOURS[: len(rules)] else colours

    def slow(self) -> str:
        slow = self.last("slow") or ""
        if not slow or _SLOW.fullmatch(slow):
            return slow
        self.note(
            f"The link asks for slow = {_quoted(slow)}: it must be a stage and the numbers of rule, layer, "
            "unit and row, such as slow=gradient,2,1,15,28. Slow motion is left closed."
        )
        return _DEFAULT.slow

    def key(self, text: str, kind: str, find: Callable[[str], Op | Rule]) -> str:
        """The canonical key of an op or rule, or "" with a notice."""
        try:
            return find(text).key
        except FormulaError as error:
            self.note(
                f"The link's own {kind} {_quoted(text.removeprefix(OWN))} cannot be read: {error.message}."
            )
        except ValueError:
            meant = hint(kind, text)
            self.note(f"The link names an unknown {kind} {_quoted(text)}{meant and f' ({meant})'}.")
        return ""

    def parameters(self, op: Op, rules: Sequence[Rule]) -> dict[str, float]:
        loss = find_loss(self.loss(VIEW["f"]))
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

    def learns(self, op: Op, rules: Sequence[Rule]) -> str:
        name = self.last("learns") or ""
        known = list(dict.fromkeys(each for rule in rules for each in learnable(op, rule)))
        if not name or name in known:
            return name
        can = f"what can is {', '.join(known)}" if known else "nothing of its op and rules can"
        self.note(f"The link lets {_quoted(name)} learn, which cannot: {can}.")
        return _DEFAULT.learns

    def view(self) -> dict[str, Any]:
        """The words of ``VIEW``, each by its kind."""
        read = {"number": self.number, "range": self.range, "choice": self.one_of, "loss": self.loss}
        return {name: read[word.kind](word) for name, word in VIEW.items()}

    def number(self, word: Word) -> Any:
        text = self.last(word.name)
        if text is None:
            return word.default
        return self.value(word.name, text, word.default, word.low, word.high)

    def loss(self, word: Word) -> str:
        """The formula of a loss; a number is a parameter of that name, as in older links."""
        text = self.losses.get(word.name) or self.last(word.name) or word.default
        if NUMBER.fullmatch(text):
            self.query.setdefault(_word(word.name), [text])
            text = word.default
        try:
            find_loss(text)
        except FormulaError as error:
            self.note(word.refusal.format(text=_quoted(text), why=error.message))
            text = word.default
        self.losses[word.name] = text
        return text

    def one_of(self, word: Word) -> Any:
        text = self.last(word.name) or word.default
        if text in word.words or text == word.default:
            return text
        names = {"name": word.name, "text": _quoted(text), "default": _quoted(word.default)}
        self.note(word.refusal.format(**names, words=", ".join(word.words)))
        return word.default

    def range(self, word: Word) -> Any:
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

    def value(self, key: str, text: str, default: float, low: float, high: float) -> float:
        value = float(text) if NUMBER.fullmatch(text) else math.nan
        if low <= value <= high:
            return value + 0.0
        self.note(
            f"The link asks for {_quoted(key)} = {_quoted(text)}: "
            f"it must be a number from {low:.15g} to {high:.15g} and is left at {default:.15g}."
        )
        return default

    def training(self, choice: Choice) -> Choice:
        """Training settings one by one, each as the run itself accepts it; the others are the task's."""
        task = self.setting(SETTINGS["task"], USUAL)
        rest = {name: self.setting(setting, task) for name, setting in SETTINGS.items() if name != "task"}
        rest["learn"] = self.learned(choice, rest["learn"])
        return replace(choice, task=task, **rest)

    def learned(self, choice: Choice, names: Sequence[str]) -> tuple[str, ...]:
        """Those of the names that can learn with one of the rules."""
        known: list[str] = []
        op, rules = choice.entries
        for name in names:
            try:
                known += checked_learn([op], rules, [name])
            except ValueError as error:
                self.note(f"The link lets {_quoted(name)} learn: {_line(str(error), LONGEST_REASON)}.")
        return tuple(known)

    def branches(self, choice: Choice) -> Choice:
        """Branch points, each where it can be; of too many the last ones."""
        texts = self.query.pop("branch", [])
        if len(texts) > MAX_BRANCHES:
            self.note(f"The link branches {len(texts)} times: the last {MAX_BRANCHES} are taken.")
        points = [point for text in texts[-MAX_BRANCHES:] if (point := self.branch(text, choice))]
        return replace(choice, branch=checked_branches(points, choice.rules, choice.steps))

    def branch(self, text: str, choice: Choice) -> Branch | None:
        """A branch point as a run takes it; one past the end is at the last step."""
        last = choice.steps - 1
        try:
            step, name, value = read_branch(text, choice.rules)
            if isinstance(value, str):
                value = self.key(value, *(("op", find_op) if name == "op" else ("rule", find_rule)))
                if not value:
                    return None
            (point,) = checked_branches([(min(step, last), name, value)], choice.rules, choice.steps)
        except ValueError as error:
            why = _line(str(error), LONGEST_REASON)
            self.note(f"The link's branch {_quoted(text)} is left out: {why}.")
            return None
        if step > last:
            self.note(f"The link branches at step {step}, past the end: step {last} is taken.")
        return point

    def study(self, choice: Choice) -> Choice:
        """The choice with the words of a study."""
        rates = self.numbers("rates", SMALLEST_LR, LARGEST_LR, MOST_RATES, "The task's usual ones are taken.")
        if rates == usual_rates(TASKS[choice.task].lr):
            rates = ()
        choice = replace(
            choice, controls=self.flag("controls", usual=True), equal=self.flag("equal", usual=False)
        )
        return replace(choice, rates=rates, **self.swept(choice))

    def flag(self, name: str, *, usual: bool) -> bool:
        text = self.last(name)
        if text in (None, "yes", "no"):
            return text == "yes" if text else usual
        self.note(f"The link asks for {name} = {_quoted(text)}: it must be yes or no.")
        return usual

    def swept(self, choice: Choice) -> dict[str, Any]:
        """The parameter that is swept with its values, where there are both."""
        name = self.last("sweep") or ""
        parameter = parameters_of(*choice.entries).get(name)
        bounds = reach(parameter) if parameter else (-math.inf, math.inf)
        values = self.numbers("values", *bounds, MOST_VALUES, "No parameter is swept.")
        if not parameter and name in parameters_of(*choice.entries, choice.loss):
            self.note(
                f"The link sweeps {name}, a parameter of the loss on Explore; a net has that of its task, so "
                "no parameter is swept."
            )
        elif name and not parameter:
            self.note(f"The link sweeps {_quoted(name)}, which is no parameter of its op and rules.")
        elif bool(name) != bool(values):
            self.note("A sweep needs a parameter and its values, such as sweep=c&values=0.5,1,2.")
        return {"sweep": name, "values": values} if parameter and values else {}

    def numbers(self, key: str, low: float, high: float, most: int, otherwise: str) -> tuple[float, ...]:
        """Several numbers, each once and in order; none with a notice where one of them cannot be."""
        text = self.last(key)
        if text is None:
            return ()
        parts = text.split(",")
        numbers = sorted({float(part) + 0.0 for part in parts if NUMBER.fullmatch(part)})
        fit = all(NUMBER.fullmatch(part) and low <= float(part) <= high for part in parts)
        if fit and len(numbers) <= most:
            return tuple(numbers)
        self.note(
            f"The link asks for {key} = {_quoted(text)}: up to {most} numbers from {low:.15g} to "
            f"{high:.15g} can be had, between commas. {otherwise}"
        )
        return ()

    def setting(self, setting: Setting, task: str) -> Any:
        """The value of a setting in the link, or else the task's default."""
        text = self.last(setting.name)
        usual = setting.default(task)
        if text is None:
            return usual
        try:
            return setting.read(text)
        except ValueError as error:
            why = _line(str(error), LONGEST_REASON)
            left = f"It is left at {setting.text(usual)}."
            self.note(f"The link asks for {setting.name} = {_quoted(text)}: {why}. {left}")
            return usual


def tidy_range(start: float, stop: float) -> tuple[tuple[float, float], list[str]]:
    """A range that can be drawn, and a notice if it was changed: swapped if reversed, widened if empty."""
    low, high = min(start, stop), max(start, stop)
    if not high - low > max(LEAST_RANGE, NARROWEST_RANGE * max(-low, high)):
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


def _quoted(text: str) -> str:
    """A quotation of what a link holds: one short line of printable characters."""
    return f'"{_line(text, LONGEST_QUOTE)}"'


def _line(text: str, longest: int) -> str:
    return "".join(character if character.isprintable() else "?" for character in shortened(text, longest))
