"""Files and data for the pages, and answers to their requests, none of which depends on a session."""

from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from threading import Lock
from typing import Any

from explorer.catalogue import FORMULA_PREFIX, find_rule
from explorer.instrument import Asset, assets, make_assets, make_document, make_entry, to_choice_data
from explorer.instrument.page import make_saved_script
from explorer.instrument.view import SECTIONS
from explorer.lessons import GLOSSARY, LESSONS, PATHS
from explorer.lessons.lesson import Drawing
from explorer.questions import QUESTIONS as BASIC_QUESTIONS
from explorer.questions import Question
from explorer.questions.code import LANGUAGES, NOTEBOOK
from explorer.reading import MAX_CHARACTERS
from explorer.study import SCALED, UNSCALED, make_default_rates
from explorer.training import CONTROLS, DEFAULT_TASK, FIRST, SETTINGS, TASKS, Settings, Task, limits
from explorer.training.instruments import INSTRUMENTS
from explorer.training.numerics import OPTIMISERS
from explorer.training.runs import DEVICES
from explorer.training.scheduling.status import SENTENCES
from explorer.ui.links.choice import QUERY_KEYS, Choice, format_numbers, format_training_settings
from explorer.ui.links.link import from_text, is_embedded
from explorer.ui.links.presets import PRESETS, STUDIES, TRAINING
from explorer.ui.links.preview import describe_purpose, make_head_elements, make_title
from explorer.ui.links.training_words import MAX_RATES

# The labels of the values that a setting can have.
_LABELS = {key: task.label for key, task in TASKS.items()} | DEVICES
_LABELS |= {key: optimiser.label for key, optimiser in OPTIMISERS.items()}
_PRESETS = {"instrument": PRESETS, "training": TRAINING, "study": STUDIES}
_LESSON_LOCK = Lock()  # so that a class that opens a lesson together has it computed once
_COURSE_LOCK = Lock()  # separate, because the list of lessons need not wait for a lesson's numbers
# A character of pasted code takes at most six bytes as JSON, as in \\u0000.
MAX_BODY_BYTES = 8 * MAX_CHARACTERS
Answer = dict[str, Any]


@cache
def get_files() -> Mapping[str, Asset]:
    """Return a mapping from the addresses of all static files of the pages to their contents."""
    return make_assets(make_page_document()) | {get_saved_name(): make_saved_script()}


def get_saved_name() -> str:
    """Return the file name of the script that saved pages load, which changes with the script."""
    return f"saved-{make_saved_script().etag}.js"


def make_page_document(suffix: str = "", below: str = "assets/") -> Answer:
    """Return the data that every page loads first: the catalogue, links, settings and limits.

    Args:
        suffix: the end of the pages' addresses, such as ".html".
        below: the folder of the static files.
    """
    link = {"words": QUERY_KEYS, "pages": {name: f"{name}{suffix}" for name in ("learn", "train")}}
    data = make_document() | {"link": link, "saved": f"{below}{get_saved_name()}"} | describe_training()
    data["limits"] = data["limits"] | {
        "table": TABLE_LIMITS,
        "study": STUDY_LIMITS,
        "unwatched": limits.Limits.pause_after_s,
    }
    return data


TABLE_LIMITS = {
    "fewest": limits.MIN_TABLE_ROWS,
    "rows": limits.MAX_TABLE_ROWS,
    "columns": limits.MAX_TABLE_COLUMNS,
    "classes": limits.MAX_CLASSES,
    "categories": limits.MAX_CATEGORIES,
    "bytes": limits.MAX_TABLE_BYTES,
}

STUDY_LIMITS = {
    "low": limits.MIN_LR,
    "high": limits.MAX_LR,
    "rates": MAX_RATES,
    "scaled": SCALED,
    "unscaled": UNSCALED,
}


def describe_training() -> Answer:
    """Return the training settings, tasks and measurements that the controls of the training page offer."""
    setting_fields = ("name", "kind", "label", "meaning", "low", "high", "live")
    instrument_fields = ("key", "kind", "label", "sentence", "limits", "cost", "window")
    return {
        "settings": [
            {name: getattr(setting, name) for name in setting_fields}
            | {"words": {word: _LABELS.get(word, word) for word in setting.words}}
            for setting in SETTINGS.values()
            if setting.visible
        ],
        "tasks": [_describe_task(task) for task in TASKS.values()],
        "firstTask": FIRST,
        "usualTask": DEFAULT_TASK,
        "controls": CONTROLS,
        "instruments": [
            {name: getattr(instrument, name) for name in instrument_fields}
            | {
                "arguments": [
                    {"name": each.name, "label": each.label} for each in instrument.arguments if each.label
                ],
                "panel": instrument.panel and {"key": instrument.key, **asdict(instrument.panel)},
            }
            for instrument in INSTRUMENTS.values()
        ],
        "sentences": {state: SENTENCES[state] for state in ("ready", "running", "paused")},
    }


def _list_panels(task: Task) -> list[str]:
    plane = next(key for key, each in TASKS.items() if each.kind == "plane")
    settings = Settings(task=plane if task.kind == "own" else task.key)  # a user's table may be a plane's
    panels = {
        key: each.panel
        for key, each in INSTRUMENTS.items()
        if each.panel and (each.panel.when or not each.missing(settings))
    }
    return sorted(panels, key=lambda key: panels[key].order)


def _describe_task(task: Task) -> Answer:
    """Return a training task as JSON data.

    Contains its default settings as text, and the op, backward rules and parameters that it starts with.
    """
    fields = ("key", "label", "purpose", "kind", "metric", "chance", "note", "of_own_op")
    visible = (setting for name, setting in SETTINGS.items() if name != "task")
    defaults = {setting.name: setting.text_of(setting.default_of(task.key)) for setting in visible}
    defaults["rates"] = format_numbers(make_default_rates(task.lr))
    begins = {"op": task.op, "rules": task.rules, "parameters": task.parameters}
    values = {name: getattr(task, name) for name in fields}
    site = asdict(task.net.site) | {"output": task.net.output}
    return values | {
        "defaults": defaults,
        "begins": begins,
        "site": site,
        "picture": task.picture(),
        "panels": _list_panels(task),
    }


@cache
def get_folder() -> str:
    """Return the name of the folder below ``assets/`` that holds the JavaScript modules."""
    return next(name for name in get_files() if name.endswith("/document.json")).partition("/")[0]


@cache
def make_head(path: str) -> str:
    """Return HTML elements for a page's ``<head>`` that load files before Streamlit starts.

    The elements include the style of the initial page.
    """
    below = f"assets/{get_folder()}"
    # modules that all pages but Explore need
    later = [f'<link href="{below}/{assets.LATER}" rel="modulepreload">'] if path != "/" else []
    return "\n".join(
        [
            f"<style>{assets.read_skeleton_css()}</style>",
            f'<link href="{below}/{assets.STYLE}" rel="stylesheet">',
            f'<link href="{below}/document.json" rel="preload" as="fetch" crossorigin>',
            f'<script async fetchpriority="high" src="assets/{assets.PLOTLY}"></script>',
            f'<script type="module" src="{below}/{assets.FIRST_MODULE}"></script>',
            *later,
        ]
    )


def render_explore(query: str) -> tuple[str, str]:
    """Return the HTML head and body of the page Explore for a link's query.

    The head describes what the link shows. The body is displayed until Streamlit has loaded.
    """
    choice = from_text(query)[0]
    data = assets.to_script_json(make_page_data(choice, "instrument"))
    heading = "" if is_embedded(query) else assets.read_skeleton("heading")
    script = f'<script type="application/json">{data}</script>'
    body = f'<div class="served">{heading}{assets.read_skeleton("instrument")}{script}</div>'
    return make_head_elements(make_title(choice), describe_purpose(choice)), body


def make_page_data(choice: Choice, part: str) -> Answer:
    """Return the data of a page's component: the user's settings, and data for all visitors."""
    return {
        "folder": get_folder(),
        "plotly": assets.PLOTLY,
        "choice": serialize_choice(choice),
        "sections": SECTIONS,
        "languages": LANGUAGES,
        "notebook": NOTEBOOK,
        "examples": _list_examples(part),
    }


@cache
def _list_examples(part: str) -> list[Answer]:
    fields = ("name", "hint", "train", "table", "source")
    return [
        {name: getattr(preset, name) for name in fields}
        | {
            "lesson": {"key": preset.lesson, "title": LESSONS[preset.lesson].title}
            if preset.lesson
            else None,
            "choice": serialize_choice(preset.choice),
        }
        for preset in _PRESETS.get(part, ())
    ]


def serialize_choice(choice: Choice) -> Answer:
    """Return a page's settings as JSON data for the browser."""
    op, rules = choice.entries
    options = {name: getattr(choice, name) for name in ("parameters", "learns", "hide", "colours", "slow")}
    return to_choice_data(op, rules, view=choice, training=format_training_settings(choice), **options)


def make_curves_arguments(choice: Choice) -> Answer:
    """Return the arguments of the browser's "curves" request for a page's settings."""
    start, stop = choice.range
    common = {"op": choice.op, "rules": list(choice.rules), "parameters": dict(choice.parameters)}
    return common | {"start": start, "stop": stop, "g": choice.g, "f": choice.f, "learns": choice.learns}


def get_course() -> Answer:
    """Return all lessons in order, the paths through them, and the glossary.

    The course is made once, under a lock: reading times are estimated from parsed source, and Python fails to
    parse in many threads at a time (SystemError: AST constructor recursion depth mismatch).
    """
    with _COURSE_LOCK:
        return _make_course()


@cache
def _make_course() -> Answer:
    fields = ("key", "title", "question", "minutes")
    lessons = [
        {name: getattr(lesson, name) for name in fields}
        | {
            "choice": serialize_choice(from_text(lesson.scenes[0].query)[0]),
            "draws": isinstance(lesson.prediction, Drawing),
        }
        for lesson in LESSONS.values()
    ]
    paths = [{"title": title, "keys": keys} for title, keys in PATHS.items()]
    return {"lessons": lessons, "paths": paths, "glossary": GLOSSARY}


def get_lesson(key: str) -> Answer:
    """Return a lesson with its numbers, which are computed once. Raises ValueError for an unknown key."""
    if key not in LESSONS:
        raise ValueError("there is no such lesson: choose one from the list")
    with _LESSON_LOCK:
        return _compute_lesson(key)


@cache
def _compute_lesson(key: str) -> Answer:
    data = LESSONS[key].data()
    for scene in data["scenes"]:
        scene["choice"] = serialize_choice(from_text(scene["query"])[0])
    for answer in data["prediction"]["answers"]:
        if answer["picture"]:
            record = find_rule(answer["picture"])
            is_known = not record.key.startswith(FORMULA_PREFIX)  # to the browser
            answer |= {"picture": record.key, "entry": None if is_known else make_entry(record)}
    return data


QUESTIONS = {
    **BASIC_QUESTIONS,
    "lesson": Question(lambda: get_lesson),
}  # not in the cached part: lessons contain links of the app
