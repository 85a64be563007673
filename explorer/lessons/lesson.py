"""The data classes of a lesson, with the functions that compute its numbers."""

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
from explorer.gradient.threads import use_one_thread
from explorer.lessons.excerpt import Excerpt
from explorer.lessons.highlighting import highlight
from explorer.lessons.pictures import Picture, to_data
from explorer.lessons.retest import Variant, make_question
from explorer.reading.exercises import EXERCISES

Results = Mapping[str, Any]

PREDICTION_MIN = 2.0  # time for the prediction and the final questions
WORDS_PER_MIN = 100  # the reading speed for unfamiliar text
LINES_PER_MIN = 40  # the reading speed for code that is skimmed

_TEXTS = ("key", "title", "question", "remember", "challenge")
_LOCK = Lock()  # lessons may catch warnings or stop the garbage collector, which affects the whole process


@dataclass(frozen=True)
class Link:
    """A link to one state of a page: the path and the query that sets the state."""

    path: str
    query: str


def link_explore(
    op: str,
    *rules: str,
    start: float = -3.0,
    stop: float = 3.0,
    g: float = 1.0,
    learns: str = "",
    **parameters: float,
) -> Link:
    """Return a link to Explore with an op and rules over a range.

    ``parameters`` are values by name. ``learns`` is the name of a parameter that learns, or "".
    """
    query = {"op": op, "rule": rules, "range": (start, stop), "g": g, **parameters}
    if learns:
        query["learns"] = learns
    return Link("/", urlencode(query, doseq=True))


def link_train(op: str, *rules: str, **settings: str | float) -> Link:
    """Return a link that opens an op and rules on the Train page.

    ``settings`` are parameters and settings of the run by name.
    """
    return Link("/train", urlencode({"op": op, "rule": rules, **settings}, doseq=True))


@dataclass(frozen=True)
class Answer:
    """One answer to a question.

    Attributes:
        text: the answer itself, without computed numbers.
        why: the reply when the answer is picked. It gives a reason or an objection without the right
            answer. Like a lesson's ``words``, it may have placeholders for numbers.
        picture: the key or formula of the rule with this gradient in the lesson's first scene, or None if the
            answer is that there is no gradient.
    """

    text: str
    why: str
    picture: str | None = None


@dataclass(frozen=True)
class Choice:
    """A multiple-choice question, whose right answer is computed from the lesson's numbers.

    Attributes:
        ask: the question.
        answers: the answers to pick from.
        right: a function that returns the text of the right answer.
        thumbnails: whether pictures appear next to the answers before the reader picks one.
        at: as in ``Drawing``.
    """

    ask: str
    answers: tuple[Answer, ...]
    right: Callable[[Results], str]
    thumbnails: bool = False
    at: float | None = None

    def data(self, results: Results) -> dict[str, Any]:
        """Return the question as plain data, with the index of the right answer as ``right``.

        Raises ValueError if the right text is not an answer.
        """
        right = [answer.text for answer in self.answers].index(self.right(results))
        answers = [_to_data(answer, results) for answer in self.answers]
        shown = {"thumbnails": self.thumbnails, "at": self.at}
        return {"ask": self.ask, "answers": answers, "right": right, **shown}


@dataclass(frozen=True)
class Drawing:
    """A question about a gradient, to be drawn or picked among pictures of rules before it is revealed.

    Attributes:
        ask: the task, for the op of the lesson's first scene.
        rule: the rule whose gradient is plotted over the drawing.
        answers: pictures without text to pick from, including that of ``rule``.
        at: an x, such as a corner, at which the values of all rules in the scene are shown too.
    """

    ask: str
    rule: str
    answers: tuple[Answer, ...]
    at: float | None = None

    def data(self, results: Results) -> dict[str, Any]:
        """Return the question as plain data, with the index of the right picture as ``right``.

        Raises ValueError if no picture is right.
        """
        right = [answer.picture for answer in self.answers].index(self.rule)
        answers = [_to_data(answer, results) for answer in self.answers]
        return {"ask": self.ask, "answers": answers, "right": right, "rule": self.rule, "at": self.at}


def _to_data(answer: Answer, results: Results) -> dict[str, Any]:
    return {"text": answer.text, "why": fill_numbers(answer.why, results), "picture": answer.picture}


@dataclass(frozen=True)
class Lesson:
    """One screen: question, prediction, at most 150 words, live curves, code, and a sentence to remember.

    ``words`` is Markdown. It holds no literal numbers: ``{name}`` inserts the result of the function of that
    name, with an optional format after a colon. ``[leaf tensor](leaf)`` links to the glossary. The displayed
    code needs only torch, so that readers can run it anywhere.

    Attributes:
        key: the permanent name, used in the lesson's link.
        title: the title, a few words.
        question: the question that the lesson answers.
        prediction: the question that the reader answers first, by picking or drawing.
        words: the lesson's text.
        numbers: the functions that compute the numbers in the text; their source is displayed.
        scenes: live curves and nets, each as a link to one state of Explore or Train.
        remember: one sentence to remember.
        code: the Functions and layers of the lesson, displayed before the numbers.
        excerpt: the lines of code that the question is about, displayed next to it, or None.
        pictures: functions that return heat maps, lines, sweeps, a step to compute by hand, steps to put in
            order, a corner whose slope is dragged, or a hidden Function.
        retest: further questions on the same subject; two are asked at the end.
        exercise: the key of the exercise at the end of the lesson, or "".
        challenge: an open task at the end of the lesson, in the same Markdown, or "".
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
    challenge: str = ""

    @property
    def minutes(self) -> int:
        """An estimate of the reading time in minutes, from the length of text and code."""
        words, lines = len(self.words.split()), self.source.count("\n")
        return round(PREDICTION_MIN + words / WORDS_PER_MIN + lines / LINES_PER_MIN)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The lesson's text and the reply to each answer, with placeholders for numbers."""
        return (self.words, *(answer.why for answer in self.prediction.answers))

    @property
    def source(self) -> str:
        """The lesson's code as one program that needs only torch.

        It prints every number in the format used in the text.
        """
        code = [*self.code, *self.numbers]
        modules = dict.fromkeys(inspect.getmodule(thing) for thing in code)
        head = dict.fromkeys(line for module in modules if module for line in _get_head(module))
        sources = (inspect.getsource(thing).strip() for thing in code)
        parts = ["\n".join(head), *sources, self._make_print_code()]
        return "\n\n\n".join(parts) + "\n"

    def _make_print_code(self) -> str:
        # The placeholders of a text, such as "{net[last]:,.0f}", by name and format.
        parts = (part for text in self.sentences for part in Formatter().parse(text))
        fields = dict.fromkeys((name, f":{form}" if form else "") for _, name, form, _ in parts if name)
        lines = [f'print("{name}: {{{name}{form}}}".format(**results))' for name, form in fields]
        names = (number.__name__ for number in self.numbers)
        computed = [f'    "{name}": {name}(),' for name in names]
        return "\n".join(["results = {", *computed, "}", *lines])

    def compute_results(self) -> dict[str, Any]:
        """Compute all numbers of the lesson, and return a dict from names of functions to results."""
        with _LOCK, use_one_thread():
            return {number.__name__: number() for number in self.numbers}

    def data(self) -> dict[str, Any]:
        """Return the lesson as plain data for a page, with all numbers computed."""
        results = self.compute_results()
        rules = [answer.picture for answer in self.prediction.answers if answer.picture]
        return {name: getattr(self, name) for name in _TEXTS} | {
            "prediction": self.prediction.data(results),
            "words": fill_numbers(self.words, results),
            "code": highlight(self.source),
            "excerpt": self.excerpt and self.excerpt.data(),
            "scenes": [asdict(scene) for scene in self.scenes],
            "retest": [make_question(variant, rules) for variant in self.retest],
            "exercise": EXERCISES[self.exercise].to_data() if self.exercise else None,
            "pictures": [to_data(picture()) for picture in self.pictures],
        }


class _ProseFormatter(Formatter):
    """A string formatter with a typographic minus sign and a space before %, for prose."""

    def format_field(self, value: Any, format_spec: str) -> str:
        text: str = super().format_field(value, format_spec)
        return with_minus(text).replace("%", "\u00a0%") if isinstance(value, int | float) else text


def fill_numbers(text: str, results: Results) -> str:
    """Return a lesson's text with its placeholders replaced by numbers, as code in backticks."""
    parts = text.split("`")
    return "`".join(
        part.format(**results) if index % 2 else _ProseFormatter().vformat(part, (), results)
        for index, part in enumerate(parts)
    )


def _get_head(module: ModuleType) -> list[str]:
    text = inspect.getsource(module)
    kinds = (ast.Import, ast.ImportFrom, ast.Assign)
    lines = [ast.get_source_segment(text, node) for node in ast.parse(text).body if isinstance(node, kinds)]
    ours = ("from explorer.", "LESSON")
    return [line for line in lines if line and not line.startswith(ours)]
