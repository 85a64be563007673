"""The server's answers to the instrument: torch's curves, own formulas as entries, the files. No session."""

import base64
import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import cache, lru_cache
from threading import Lock
from typing import Any

import numpy as np

from explorer.catalogue import OWN, find_rule
from explorer.exercises import EXERCISES
from explorer.instrument import Asset, assets, choice_data, document, entry
from explorer.instrument import own_entry as own_entry  # which app.py answers with
from explorer.instrument.assets import FIRST_MODULE, LATER, PLOTLY, STYLE, json_text, skeleton, skeleton_css
from explorer.instrument.modules import MODULES
from explorer.instrument.page import Page
from explorer.instrument.view import SECTIONS
from explorer.lessons import GLOSSARY, LESSONS, PATHS
from explorer.measures import suiting
from explorer.reading import MAX_CHARACTERS
from explorer.study import SCALED, UNSCALED, usual_rates
from explorer.training import CONTROLS, FIRST, SETTINGS, TASKS, USUAL, Setting, Task
from explorer.training.instruments import INSTRUMENTS, Instrument
from explorer.training.limits import (
    FEWEST_TABLE_ROWS,
    LARGEST_LR,
    MAX_CLASSES,
    MAX_TABLE_BYTES,
    MAX_TABLE_COLUMNS,
    MAX_TABLE_ROWS,
    SMALLEST_LR,
    Limits,
)
from explorer.training.numerics import OPTIMISERS
from explorer.training.runs import DEVICES
from explorer.training.scheduling.status import SENTENCES
from explorer.ui.links.choice import WORDS, Choice, numbers_text, training_texts
from explorer.ui.links.link import from_text, is_embedded
from explorer.ui.links.presets import PRESETS, STUDIES, TRAINING, Preset
from explorer.ui.links.preview import preview, purpose, title
from explorer.ui.links.training_words import MOST_RATES
from explorer.ui.sections import judged, lines, pasted
from explorer.ui.sections.words import drawn

# Labels of words of settings.
_WORDS = {key: task.label for key, task in TASKS.items()} | DEVICES
_WORDS |= {key: optimiser.label for key, optimiser in OPTIMISERS.items()}
_PRESETS = {"instrument": PRESETS, "training": TRAINING, "study": STUDIES}
_COMPUTED_ONCE = Lock()  # a class opens a lesson at the same moment
_LISTED_ONCE = Lock()  # apart: the list of lessons waits for no lesson's numbers
PANELS = "train/panels"  # the room of the pictures of instruments, below MODULES
LONGEST_BODY = 8 * MAX_CHARACTERS  # bytes of pasted code as JSON: four a character, or an escaped quote
_log = logging.getLogger(__name__)
Answer = dict[str, Any]


@cache
def files() -> Mapping[str, Asset]:
    """All files of the instrument by their address."""
    return assets(whole_document())


def whole_document(suffix: str = "") -> Answer:
    """The browser's document: catalogue, links, trainings; ``suffix`` ends the addresses of pages."""
    link = {"words": WORDS, "pages": {name: f"{name}{suffix}" for name in ("learn", "train")}}
    known = document() | {"link": link} | training()
    known["limits"] = known["limits"] | {
        "table": TABLE_LIMITS,
        "study": STUDY_LIMITS,
        "unwatched": Limits.pause_after_s,
    }
    return known


TABLE_LIMITS = {
    "fewest": FEWEST_TABLE_ROWS,
    "rows": MAX_TABLE_ROWS,
    "columns": MAX_TABLE_COLUMNS,
    "classes": MAX_CLASSES,
    "bytes": MAX_TABLE_BYTES,
}

STUDY_LIMITS = {
    "low": SMALLEST_LR,
    "high": LARGEST_LR,
    "rates": MOST_RATES,
    "scaled": SCALED,
    "unscaled": UNSCALED,
}


def training() -> Answer:
    """The settings of a run beside op and rules as their controls are drawn, and the tasks of the picker."""
    return {
        "settings": [_setting(setting) for setting in SETTINGS.values() if setting.visible],
        "tasks": [_task(task) for task in TASKS.values()],
        "firstTask": FIRST,
        "usualTask": USUAL,
        "controls": CONTROLS,
        "instruments": [_instrument(instrument) for instrument in INSTRUMENTS.values()],
        "panels": panels(),
        "sentences": {state: SENTENCES[state] for state in ("ready", "running", "paused")},
    }


def panels() -> list[str]:
    """The keys of instruments that have a picture: a module of their name in ``train/panels``."""
    return [key for key in INSTRUMENTS if (MODULES / f"{PANELS}/{key}.js").exists()]


def _instrument(instrument: Instrument) -> Answer:
    fields = ("key", "kind", "label", "sentence", "limits", "cost", "window", "legend")
    arguments = [{"name": each.name, "label": each.label} for each in instrument.arguments]
    return {name: getattr(instrument, name) for name in fields} | {"arguments": arguments}


def _setting(setting: Setting) -> Answer:
    """``words`` with their labels."""
    fields = ("name", "kind", "label", "meaning", "low", "high", "live")
    facts = {name: getattr(setting, name) for name in fields}
    return facts | {"words": {word: _WORDS.get(word, word) for word in setting.words}}


def _task(task: Task) -> Answer:
    """With the text of every default, and the op, rules and parameters it begins with."""
    fields = ("key", "label", "purpose", "kind", "metric", "chance", "note", "of_own_op")
    visible = (setting for name, setting in SETTINGS.items() if name != "task")
    defaults = {setting.name: setting.text(setting.default(task.key)) for setting in visible}
    defaults["rates"] = numbers_text(usual_rates(task.lr))
    begins = {"op": task.op, "rules": task.rules, "parameters": task.parameters}
    facts = {name: getattr(task, name) for name in fields}
    site = asdict(task.net.site) | {"output": task.net.output}
    return facts | {"defaults": defaults, "begins": begins, "site": site, "picture": task.picture()}


@cache
def folder() -> str:
    """Where the modules are, below ``assets/``."""
    return next(name for name in files() if name.endswith("/document.json")).partition("/")[0]


@cache
def head(path: str) -> str:
    """For the head of a page: the skeleton's style, and what is fetched while Streamlit is still loading."""
    below = f"assets/{folder()}"
    later = f'<link href="{below}/{LATER}" rel="modulepreload">'  # of all pages but the first
    return "\n".join(
        [
            f"<style>{skeleton_css()}</style>",
            f'<link href="{below}/{STYLE}" rel="stylesheet">',
            f'<link href="{below}/document.json" rel="preload" as="fetch" crossorigin>',
            f'<script async fetchpriority="high" src="assets/{PLOTLY}"></script>',
            f'<script type="module" src="{below}/{FIRST_MODULE}"></script>',
            *([later] if path != "/" else []),
        ]
    )


def served(query: str) -> tuple[str, str]:
    """Explore with the choice of a link, for head and body of its page.

    The head says what the link is for; the body is drawn before Streamlit has come.
    """
    choice = from_text(query)[0]
    data = json_text(page_data(choice, "instrument"))
    heading = "" if is_embedded(query) else skeleton("heading")
    script = f'<script type="application/json">{data}</script>'
    body = f'<div class="served">{heading}{skeleton("instrument")}{script}</div>'
    return preview(title(choice), purpose(choice)), body


def page_data(choice: Choice, part: str) -> Answer:
    """The data of a part of the instrument: the choice, and what is the same for all visitors."""
    return {
        "folder": folder(),
        "plotly": PLOTLY,
        "choice": chosen(choice),
        "sections": SECTIONS,
        "examples": _examples(part),
    }


@cache
def _examples(part: str) -> list[Answer]:
    return [_example(preset) for preset in _PRESETS.get(part, ())]


def _example(preset: Preset) -> Answer:
    fields = ("name", "hint", "train", "table", "source")
    lesson = {"key": preset.lesson, "title": LESSONS[preset.lesson].title} if preset.lesson else None
    facts = {name: getattr(preset, name) for name in fields}
    return facts | {"lesson": lesson, "choice": chosen(preset.choice)}


def chosen(choice: Choice) -> Answer:
    """A choice as the browser takes it."""
    op, rules = choice.entries
    words = {name: getattr(choice, name) for name in ("parameters", "learns", "hide", "colours", "slow")}
    return choice_data(op, rules, view=choice, training=training_texts(choice), **words)


def confirm(query: str) -> Answer:
    """Torch's curves and words for the choice of a link; a message where torch cannot draw it."""
    choice, _ = from_text(query)
    try:
        return _confirmed(choice.op, choice.rules, tuple(sorted(choice.sampling.items())))
    except ValueError as error:
        return {"message": f"{str(error)[:1].upper()}{str(error)[1:]}."}


@lru_cache(maxsize=128)
def _confirmed(op: str, rules: tuple[str, ...], sampling: tuple[tuple[str, float], ...]) -> Answer:
    answer: Answer = encoded(drawn(op, rules, **dict(sampling)))
    return answer


def checks(query: str) -> Answer:
    """The checks of a link's op with its first rule, worst first; a message where there can be none."""
    choice = from_text(query)[0]
    return _judged(choice, lines.checks)


def neighbours(query: str) -> Answer:
    """The rules of the catalogue beside a link's first one, over its range; a message where that fails."""
    choice = from_text(query)[0]
    return _judged(choice, lines.neighbours, *choice.range)


def row(query: str) -> Answer:
    """The row of a link's first rule in the table of all that suit its op; a message where there is none."""
    choice = from_text(query)[0]
    return _judged(choice, lines.row)


def _judged(choice: Choice, tell: Callable[..., Answer], *more: float) -> Answer:
    try:
        return tell(choice.op, choice.rules[0], choice.parameters, *more)
    except Exception:
        _log.exception("%s of %s with %s failed", tell.__name__, choice.op, choice.rules[0])
        return {"message": "This could not be computed: our fault, and it is in the log."}


def encoded(value: Any) -> Any:
    """Plain data as JSON types: arrays as base64 of their own bytes, which plotly.js reads too."""
    if isinstance(value, np.ndarray):
        # Plotly's names of dtypes are NumPy's without the byte order: f4, i1 …
        return {"dtype": value.dtype.str[1:], "bdata": base64.b64encode(value.tobytes()).decode("ascii")}
    if isinstance(value, Mapping):
        return {key: encoded(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [encoded(part) for part in value]
    return value


def saved(query: str) -> str:
    """The instrument with the choice of a link as one HTML file."""
    choice, _ = from_text(query)
    words = confirm(query)
    rows = _rows(choice) if choice.section == "compare" else {}
    return Page(chosen(choice), {name: words.get(name, "") for name in ("main", "rest")}, rows).html()


def _rows(choice: Choice) -> Answer:
    """The rows of the table of rules by their keys, without those that cannot be measured."""
    rules = [rule.key for rule in suiting(choice.entries[0])]
    found = {key: _judged(replace(choice, rules=(key,)), lines.row) for key in rules}
    return {key: answer["lines"][0] for key, answer in found.items() if "lines" in answer}


def course() -> Answer:
    """The lessons in their order, paths through them, the glossary, and the places of a training.

    Made once: minutes are estimated from parsed source, which Python fails to parse in many threads at a time
    (SystemError: AST constructor recursion depth mismatch).
    """
    with _LISTED_ONCE:
        return _course()


@cache
def _course() -> Answer:
    fields = ("key", "title", "question", "minutes")
    lessons = [{name: getattr(lesson, name) for name in fields} for lesson in LESSONS.values()]
    paths = [{"title": title, "keys": keys} for title, keys in PATHS.items()]
    return {"lessons": lessons, "paths": paths, "glossary": GLOSSARY, "skeleton": skeleton("training")}


def lesson(key: str) -> Answer:
    """A lesson with every number computed, once for all visitors; a message where there is none."""
    if key not in LESSONS:
        return {"message": "There is no such lesson: choose one of the list."}
    with _COMPUTED_ONCE:
        return _lesson(key)


@cache
def _lesson(key: str) -> Answer:
    data = LESSONS[key].data()
    for scene in data["scenes"]:
        scene["choice"] = chosen(from_text(scene["query"])[0])
    for answer in data["prediction"]["answers"]:
        if answer["picture"]:
            answer |= _picture(answer["picture"])
    return data


def _picture(rule: str) -> Answer:
    """The key of a rule, and its entry where the browser does not know it from the catalogue."""
    record = find_rule(rule)
    return {"picture": record.key, "entry": entry(record) if record.key.startswith(OWN) else None}


def read(code: object) -> Answer:
    """The Functions in pasted code, each with the choice that shows it; a message where it is no code."""
    return pasted.read(str(code or ""))


def judge(key: object, code: object) -> Answer:
    """The verdict on code as a solution of an exercise; a message where there is no such exercise."""
    known = str(key)
    if known not in EXERCISES:
        return {"message": "There is no such exercise."}
    return _judgement(known, str(code or ""))


@lru_cache(maxsize=64)  # a class begins with the same text, and often makes the same slips
def _judgement(key: str, code: str) -> Answer:
    return judged.judge(EXERCISES[key].data(), code)
