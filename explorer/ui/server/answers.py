"""What the server gives the instrument: files, data, and answers to questions. It knows no session."""

from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from threading import Lock
from typing import Any

from explorer.catalogue import OWN, find_rule
from explorer.instrument import Asset, assets, choice_data, document, entry
from explorer.instrument.assets import FIRST_MODULE, LATER, PLOTLY, STYLE, json_text, skeleton, skeleton_css
from explorer.instrument.modules import MODULES
from explorer.instrument.page import saved_script
from explorer.instrument.view import SECTIONS
from explorer.lessons import GLOSSARY, LESSONS, PATHS
from explorer.questions import QUESTIONS as BASIC_QUESTIONS
from explorer.questions import Question
from explorer.questions.code import LANGUAGES, NOTEBOOK
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

# Labels of words of settings.
_WORDS = {key: task.label for key, task in TASKS.items()} | DEVICES
_WORDS |= {key: optimiser.label for key, optimiser in OPTIMISERS.items()}
_PRESETS = {"instrument": PRESETS, "training": TRAINING, "study": STUDIES}
_COMPUTED_ONCE = Lock()  # a class opens a lesson at the same moment
_LISTED_ONCE = Lock()  # apart: the list of lessons waits for no lesson's numbers
PANELS = "train/panels"  # the room of the pictures of instruments, below MODULES
LONGEST_BODY = 8 * MAX_CHARACTERS  # bytes of pasted code as JSON: four a character, or an escaped quote
Answer = dict[str, Any]


@cache
def files() -> Mapping[str, Asset]:
    """All files of the instrument by their address."""
    return assets(whole_document()) | {saved_name(): saved_script()}


def saved_name() -> str:
    """Return the name of the script that a saved file is written from; it changes with the script."""
    return f"saved-{saved_script().etag}.js"


def whole_document(suffix: str = "", below: str = "assets/") -> Answer:
    """Return the browser's document: catalogue, links, trainings.

    `suffix` ends the addresses of pages; `below` is the folder of files.
    """
    link = {"words": WORDS, "pages": {name: f"{name}{suffix}" for name in ("learn", "train")}}
    known = document() | {"link": link, "saved": f"{below}{saved_name()}"} | training()
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
        "languages": LANGUAGES,
        "notebook": NOTEBOOK,
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


def curves_arguments(choice: Choice) -> Answer:
    """Return the arguments of the question "curves" for a choice."""
    start, stop = choice.range
    common = {"op": choice.op, "rules": list(choice.rules), "parameters": dict(choice.parameters)}
    return common | {"start": start, "stop": stop, "g": choice.g, "f": choice.f, "learns": choice.learns}


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
    """A lesson with every number computed, once for all visitors."""
    if key not in LESSONS:
        raise ValueError("there is no such lesson: choose one of the list")
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


QUESTIONS = {**BASIC_QUESTIONS, "lesson": Question(lambda: lesson)}  # lessons need links, as the app has them
