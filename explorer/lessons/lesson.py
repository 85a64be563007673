"""The records of a lesson: plain data and the functions that compute its numbers."""

import ast
import inspect
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from string import Formatter
from threading import Lock
from types import ModuleType
from typing import Any
from urllib.parse import urlencode

from explorer.formula import with_minus
from explorer.lessons.excerpt import Excerpt
from explorer.lessons.highlighting import spans
from explorer.lessons.pictures import Picture, data
from explorer.lessons.retest import Variant, question
from explorer.reading.exercises import EXERCISES
from explorer.training.system import one_thread

Results = Mapping[str, Any]

PREDICTING_MIN = 2.0  # and the fresh questions
WORDS_A_MIN = 100  # of words that are new, read slowly
LINES_A_MIN = 40  # of code that is looked through

_ONE_AT_A_TIME = Lock()  # some stories catch warnings or stop the garbage collector, for the whole process


@dataclass(frozen=True)
class Link:
    """A page in exactly one state: its path and the query that carries everything chosen."""

    path: str
    query: str


def explore(
    op: str,
    *rules: str,
    start: float = -3.0,
    stop: float = 3.0,
    g: float = 1.0,
    learns: str = "",
    **parameters: float,
) -> Link:
    """Explore with an op and rules over a range; parameters by name, one of them may learn."""
    chosen = {"op": op, "rule": rules, "range": (start, stop), "g": g, **parameters}
    if learns:
        chosen["learns"] = learns
    return Link("/", urlencode(chosen, doseq=True))


def train(op: str, *rules: str, **settings: str | float) -> Link:
    """Train with an op and rules; other settings of a run and parameters by name."""
    return Link("/train", urlencode({"op": op, "rule": rules, **settings}, doseq=True))


@dataclass(frozen=True)
class Answer:
    """One answer to a question.

    Attributes:
        text: what it says, without a number that has to be computed.
        why: one sentence to whoever picks it: the reason, or an objection. It does not name the right answer.
            Numbers as in a lesson's words.
        picture: key or formula of the rule whose gradient this would be in the lesson's first scene.
            None where the answer is that there is no gradient.
    """

    text: str
    why: str
    picture: str | None = None


@dataclass(frozen=True)
class Choice:
    """A question with a few answers; which one is right follows from the lesson's numbers.

    Attributes:
        ask: the question.
        answers: to pick from.
        right: the text of the right one.
        thumbnails: whether the pictures stand beside the answers before one is picked.
    """

    ask: str
    answers: tuple[Answer, ...]
    right: Callable[[Results], str]
    thumbnails: bool = False

    def data(self, results: Results) -> dict[str, Any]:
        """Plain data; ``right`` is the index of the right answer. Raises ValueError if it is not there."""
        right = [answer.text for answer in self.answers].index(self.right(results))
        answers = [_data(answer, results) for answer in self.answers]
        return {"ask": self.ask, "answers": answers, "right": right, "thumbnails": self.thumbnails}


@dataclass(frozen=True)
class Drawing:
    """A gradient to be drawn before it is shown; who does not draw picks among pictures of rules.

    Attributes:
        ask: the task, for the op of the lesson's first scene.
        rule: the rule whose gradient is drawn over it.
        answers: pictures to pick from, without text, that of ``rule`` among them.
        at: an x, such as a corner, at which the values of all rules of the scene are reported as well.
    """

    ask: str
    rule: str
    answers: tuple[Answer, ...]
    at: float | None = None

    def data(self, results: Results) -> dict[str, Any]:
        """Plain data; ``right`` is the index of the right picture. Raises ValueError if it is not there."""
        right = [answer.picture for answer in self.answers].index(self.rule)
        answers = [_data(answer, results) for answer in self.answers]
        return {"ask": self.ask, "answers": answers, "right": right, "rule": self.rule, "at": self.at}


def curve(rule: str, why: str) -> Answer:
    """An answer that is a curve alone: the gradient of a rule by key or formula."""
    return Answer("", why, rule)


def _data(answer: Answer, results: Results) -> dict[str, Any]:
    return {"text": answer.text, "why": filled(answer.why, results), "picture": answer.picture}


@dataclass(frozen=True)
class Lesson:
    """One screen: a question, a prediction, at most 150 words, live curves, code, and one sentence to keep.

    ``words`` is Markdown of ours, indented with the code. No number stands in it: ``{name}`` takes what the
    function of that name returns, with any format after a colon; ``[leaf tensor](leaf)`` leads to the
    glossary. The shown code needs torch alone, so that it runs wherever a reader takes it.

    Attributes:
        key: permanent name, the end of its link.
        title: a few words.
        question: what the lesson answers.
        prediction: the question that the reader answers first, in words or by drawing.
        words: the story.
        numbers: the functions that compute what stands in the words; their source is shown.
        scenes: the live curves and nets, each in exactly one state of Explore or Train, which it opens.
        remember: one sentence.
        code: the Functions and layers of the story, shown before the numbers.
        excerpt: the lines that the question is about, beside it; None where it is about no code.
        pictures: functions that compute heat maps, lines, sweeps, a step to be done by hand, steps to be
            put in order, a corner whose slope is dragged, or a hidden Function.
        retest: fresh questions on the same matter, two of which are asked at the end.
        exercise: the key of the exercise that the lesson ends with; "" for none.
    """

    key: str
    title: str
    question: str
    prediction: Choice | Drawing
    words: str
    numbers: tuple[Callable[[], Any], ...]
    scenes: tuple[Link, ...]
    remember: str
    code: tuple[type | Callable[..., Any], ...] = ()
    excerpt: Excerpt | None = None
    pictures: tuple[Callable[[], Picture], ...] = ()
    retest: tuple[Variant, ...] = ()
    exercise: str = ""

    @property
    def minutes(self) -> int:
        """The time that a reader may take, estimated from the length of words and code."""
        words, lines = len(self.words.split()), self.source.count("\n")
        return round(PREDICTING_MIN + words / WORDS_A_MIN + lines / LINES_A_MIN)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The words and the reply to each answer, with placeholders for numbers."""
        return (inspect.cleandoc(self.words), *(answer.why for answer in self.prediction.answers))

    @property
    def source(self) -> str:
        """The code that runs, as it stands in the lesson's modules; complete: it needs torch alone.

        It prints every number as the words have it.
        """
        code = [*self.code, *self.numbers]
        modules = dict.fromkeys(inspect.getmodule(thing) for thing in code)
        head = dict.fromkeys(line for module in modules if module for line in _head(module))
        parts = ["\n".join(head), *(inspect.getsource(thing).strip() for thing in code), self._printing()]
        return "\n\n\n".join(parts) + "\n"

    def _printing(self) -> str:
        """Code that prints the numbers."""
        fields = dict.fromkeys(field for text in self.sentences for field in _fields(text))
        lines = [f'print("{name}: {{{name}{form}}}".format(**results))' for name, form in fields]
        names = (number.__name__ for number in self.numbers)
        computed = [f'    "{name}": {name}(),' for name in names]
        return "\n".join(["results = {", *computed, "}", *lines])

    def results(self) -> dict[str, Any]:
        """The value of every number, computed now."""
        with _ONE_AT_A_TIME, one_thread():
            return {number.__name__: number() for number in self.numbers}

    def data(self) -> dict[str, Any]:
        """Everything a page needs, as text, numbers, lists and dicts; all numbers are computed now."""
        results = self.results()
        rules = [answer.picture for answer in self.prediction.answers if answer.picture]
        return {name: getattr(self, name) for name in ("key", "title", "question", "remember")} | {
            "prediction": self.prediction.data(results),
            "words": filled(inspect.cleandoc(self.words), results),
            "code": spans(self.source),
            "excerpt": self.excerpt and self.excerpt.data(),
            "scenes": [asdict(scene) for scene in self.scenes],
            "retest": [question(variant, rules) for variant in self.retest],
            "exercise": EXERCISES[self.exercise].data() if self.exercise else None,
            "pictures": [data(picture()) for picture in self.pictures],
        }


class _Prose(Formatter):
    """Numbers as sentences on screen write them."""

    def format_field(self, value: Any, format_spec: str) -> str:
        text: str = super().format_field(value, format_spec)
        return with_minus(text) if isinstance(value, int | float) else text


def filled(text: str, results: Results) -> str:
    """A text with its numbers; between backticks they stand as code writes them."""
    parts = text.split("`")
    return "`".join(
        part.format(**results) if index % 2 else _Prose().vformat(part, (), results)
        for index, part in enumerate(parts)
    )


def _fields(text: str) -> list[tuple[str, str]]:
    """Name and format of each number that a text takes, such as ``("net[last]", ":,.0f")``."""
    parts = Formatter().parse(text)
    return [(name, f":{form}" if form else "") for _, name, form, _ in parts if name]


def _head(module: ModuleType) -> list[str]:
    """The import lines and constants of a module."""
    text = inspect.getsource(module)
    kinds = (ast.Import, ast.ImportFrom, ast.Assign)
    lines = [ast.get_source_segment(text, node) for node in ast.parse(text).body if isinstance(node, kinds)]
    ours = ("from explorer.", "LESSON")
    return [line for line in lines if line and not line.startswith(ours)]
