"""Every lesson: its words hold, its numbers are computed, its code runs, its links open."""

import inspect
import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from string import Formatter
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pytest

from explorer.catalogue import find_op, find_rule
from explorer.checks.result import MEANINGS
from explorer.curves import sample
from explorer.formula import with_minus
from explorer.gradient.threads import use_one_thread
from explorer.lessons import GLOSSARY, LESSONS, Choice, Lesson, pictures, prose
from explorer.lessons.lesson import fill_numbers
from explorer.reading.exercises import EXERCISES
from explorer.ui.links.link import from_query
from tests.browser.lessons import KINDS
from tests.lessons.conftest import data, results

EACH = pytest.mark.parametrize("lesson", LESSONS.values(), ids=list(LESSONS))
CODE = re.compile(r"`[^`]*`")
TERM = re.compile(r"\[[^\]]+\]\((\w+)\)")
MOST_WORDS = 150
COUNTS = "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred|thousand|million"


def test_the_lessons_of_the_course_are_here_in_their_order():
    course = [
        "autograd", "vanishing", "straight-through", "gradcheck", "clamp", "leaves", "leaf-trap",
        "accumulation", "relu", "calling", "linear", "constants", "outputs", "context", "in-place", "twice",
        "surrogates", "minimum", "learned-step", "unbiased-or-quiet",
    ]  # fmt: skip
    assert [key for key in LESSONS if key in course] == course
    assert [lesson.key for lesson in LESSONS.values()] == [*LESSONS]
    assert {path.stem for path in prose._FOLDER.iterdir()} == {*LESSONS}
    assert len({lesson.title for lesson in LESSONS.values()}) == len(LESSONS)
    assert sorted(lesson.exercise for lesson in LESSONS.values() if lesson.exercise) == sorted(EXERCISES)


@EACH
def test_the_words_of_a_lesson_are_short_and_lead_to_its_pictures_and_net(lesson: Lesson):
    words = data(lesson.key)["words"]
    assert 20 <= len(words.split()) <= MOST_WORDS
    assert lesson.question.endswith("?")
    assert not any("\n" in code for code in CODE.findall(lesson.words)), "code stands on one line"
    assert re.fullmatch(r"[^.?]+\.", lesson.remember), "one sentence"
    sentences = re.split(r"(?<=[.?:])\s", TERM.sub("term", words))
    assert max(len(sentence.split()) for sentence in sentences) <= 32, "for readers of many languages"

    # On a stage the slides of pictures and of a net have a paragraph each.
    paragraphs = [each for each in lesson.words.split("\n\n") if not each.startswith("After the run:")]
    leading = [each for each in paragraphs if re.match(r"In the pictures?\b|Press ", each)]
    assert len(leading) == bool(lesson.pictures)
    assert "*Start*" in paragraphs[-1] or all(scene.path != "/train" for scene in lesson.scenes)
    assert not re.search("last lesson|the published|train below|net below|first lines", lesson.words, re.I)
    assert all(name in lesson.source for name in re.findall(r"(\w+)\(\)", lesson.prediction.ask))


def written_numbers(words: str) -> list[str]:
    """Digits that are not part of a name nor of code with a name in it, and counts in words.

    "One" is too often nobody's number, and "zero" stands for the point or for "none": what the words claim
    with them stands in test_claims.
    """
    literal = "".join(text for text, *_ in Formatter().parse(words))
    bare = [code for code in CODE.findall(literal) if not re.search(r"[A-Za-z]", code)]
    return re.findall(rf"(?<!\w)\d+|\b(?:{COUNTS})\b", " ".join([CODE.sub("", literal), *bare]))


@EACH
def test_every_number_in_the_words_is_computed(lesson: Lesson):
    others = (lesson.remember, lesson.question, lesson.title, lesson.prediction.ask)
    for text in (*lesson.sentences, *others):
        assert written_numbers(text) == [], text


def test_the_search_for_numbers_itself():
    found = {
        "falls to 1,370": ["1", "370"], "is `[0.0]` and `g = 2`": ["0", "0"],
        "a thousand inputs, two of them": ["thousand", "two"],
        "{net[last]:,.0f} in float32, x³, `w1`, the weight, once": [],
    }  # fmt: skip
    assert {words: written_numbers(words) for words in found} == found


@EACH
def test_every_number_is_used(lesson: Lesson):
    texts = "".join(lesson.sentences)
    used = {re.split(r"[\[.]", name)[0] for _, name, *_ in Formatter().parse(texts) if name}
    computed = {number.__name__ for number in lesson.numbers}
    answering = inspect.getsource(lesson.prediction.right) if isinstance(lesson.prediction, Choice) else ""
    others = "".join(inspect.getsource(thing) for thing in (*lesson.numbers, *lesson.pictures))
    assert used <= computed
    assert not [name for name in computed - used if name not in answering and f"{name}()" not in others]


@EACH
def test_the_shown_code_runs_alone_and_prints_what_the_words_say(lesson: Lesson, capsys):
    """It needs torch alone; what it prints stands in the words, or in what is said to an answer."""
    sent = data(lesson.key)
    code = "".join(text for _, text in sent["code"])
    assert "explorer" not in code
    names: dict[str, Any] = {"__name__": "__main__"}
    with use_one_thread():
        exec(compile(code, f"lesson {lesson.key}", "exec"), names)  # our own text
    assert repr(names["results"]) == repr(results(lesson.key))
    printed = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())
    said = " ".join([sent["words"], *(answer["why"] for answer in sent["prediction"]["answers"])])
    assert printed
    assert all(
        value in said or with_minus(value).replace("%", "\u00a0%") in said for value in printed.values()
    )
    fields = {name for text in lesson.sentences for _, name, *_ in Formatter().parse(text) if name}
    assert fields == set(printed), "every number of the words"


def test_sentences_write_numbers_as_the_screen_does_and_code_as_code_does():
    results = {"pull": {"up": -1006.4, "tiny": -2e-6}, "text": "-1"}
    assert fill_numbers("{pull[up]:.0f}, `x = {pull[up]:.0f}`, {text}", results) == "−1006, `x = -1006`, -1"
    assert fill_numbers("about {pull[tiny]:g}", results) == "about −2e−06"
    sentences = data("learned-step")["words"].split("`")[::2]
    assert not re.search(r"-\d", "".join(sentences))


@EACH
def test_no_number_or_error_is_taken_for_markup(lesson: Lesson):
    """Of an error such as "for *: 'float'", put into the words, a star begins what stands in italics."""
    sent = data(lesson.key)
    sentences = [sent["words"], *(answer["why"] for answer in sent["prediction"]["answers"])]
    for text, filled_in in zip(lesson.sentences, sentences, strict=True):
        assert CODE.sub("", filled_in).count("*") == CODE.sub("", text).count("*"), filled_in


@EACH
def test_every_answer_of_a_lesson_has_a_distinct_sentence_and_picture(lesson: Lesson):
    prediction = json.loads(json.dumps(data(lesson.key)))["prediction"]
    answers = prediction["answers"]
    assert 2 <= len(answers) > prediction["right"] >= 0
    if isinstance(lesson.prediction, Choice):
        assert lesson.prediction.ask.endswith("?")
        assert len({answer["text"] for answer in answers}) == len(answers)
    else:
        assert lesson.prediction.rule in parse_qs(lesson.scenes[0].query)["rule"]
    sentences = [answer["why"] for answer in answers]
    assert len(set(sentences)) == len(sentences)
    for sentence in sentences:
        assert re.fullmatch(r"[^.?!]+(\.\w[^.?!]*)*\.", sentence), f"one sentence: {sentence}"
    shown = [answer["picture"] for answer in answers if answer["picture"]]
    choice, _ = from_query(parse_qs(lesson.scenes[0].query))
    entries = [find_op(choice.op), *map(find_rule, shown)]
    names = {parameter.name for entry in entries for parameter in entry.parameters} | {"start", "stop", "g"}
    sampling = {name: value for name, value in choice.sampling.items() if name in names}
    frame = sample(choice.op, shown, dtype="float64", **sampling)
    drawn = frame.pivot(index="rule", columns="x", values="gradient").to_numpy()
    assert len(drawn) == len(shown)
    apart = [np.abs(one - other).max() for one, other in combinations(drawn, 2)]
    assert min(apart) > 0.1, "no two answers look the same"


def test_the_right_answer_is_first_now_and_then_only():
    places = [data(key)["prediction"]["right"] for key in LESSONS]
    assert 0 < places.count(0) < len(places) / 3
    assert max(places.count(place) for place in set(places)) <= len(places) / 2


@EACH
def test_every_scene_opens_without_notices_and_with_its_op_and_rules(lesson: Lesson):
    assert lesson.scenes[0].path == "/"
    for scene in lesson.scenes:
        assert scene.path in ("/", "/train")
        query = parse_qs(scene.query, strict_parsing=True)
        choice, notices = from_query(query)
        assert notices == []
        assert choice.op == find_op(query["op"][0]).key
        assert choice.rules == tuple(find_rule(rule).key for rule in query["rule"])


def test_the_first_question_names_the_numbers_of_its_picture():
    asked = LESSONS["autograd"].prediction.ask
    shown = parse_qs(LESSONS["autograd"].scenes[0].query)
    assert f"`{find_op(*shown['op']).label}`" in asked
    assert f"`a = {shown['a'][0]}`" in asked


def test_the_glossary_has_the_terms_of_the_lessons_as_sentences_without_numbers():
    used = {term for lesson in LESSONS.values() for term in TERM.findall("".join(lesson.sentences))}
    assert used | {"seed", *MEANINGS, "backward_rule", "op", "autograd"} <= set(GLOSSARY)
    assert list(GLOSSARY) == sorted(GLOSSARY)
    assert all(text.endswith(".") for text in GLOSSARY.values())
    assert written_numbers(" ".join(GLOSSARY.values())) == []


def test_two_visitors_at_once_get_the_same_numbers():
    with ThreadPoolExecutor(4) as pool:
        several = list(pool.map(lambda _: LESSONS["leaves"].compute_results(), range(40)))
    assert all(results == several[0] for results in several)


PICTURES = [picture for lesson in LESSONS.values() for picture in lesson.pictures]


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.__name__)
def test_a_picture_can_be_drawn(picture: Callable[[], pictures.Picture]):
    match picture():
        case pictures.HeatMap(_, values, entry):
            assert len({len(row) for row in values}) == 1
            assert entry is None or values[entry[0] or 0][entry[1]] is not None
        case pictures.Lines(_, _, x, y):
            for values in (x, *y.values()):
                assert len(values) == len(x)
                assert min(values) > 0, "both axes are logarithmic"
        case pictures.Sweep(parameter=name, x=x, mean=mean, sd=sd, control=(middle, spread)):
            assert len(x) == len(mean) == len(sd)
            assert x == sorted(x)
            assert x[0] > 0, "the axis is logarithmic"
            assert 0 <= min(*mean, *sd, middle, spread) <= max(*mean, *sd, middle, spread) <= 1
            choices = [from_query(parse_qs(each.scenes[0].query))[0] for each in LESSONS.values()]
            assert any(name in choice.parameters for choice in choices), "a slider beside it"
        case pictures.ByHand(given=given, hints=hints, asked_by_rule=asked, then_by_rule=then):
            shapes = {np.shape(values) for values in [*asked.values(), *(given[name] for name in hints)]}
            assert len(shapes) == 1, "each typed value has its hints"
            assert asked.keys() == then.keys()
        case pictures.Corner(left=left, right=right, named=named):
            assert all(left <= slope <= right for slope in named.values())
        case pictures.Suspects(lines=lines, faulty=faulty, hidden_line=hidden, x=x, curves=curves):
            assert hidden != lines[faulty][0], "it differs"
            assert len({why for _, why in lines}) == len(lines)
            assert {len(y) for y in curves.values()} == {len(x)}
        case pictures.Asked(answers=answers, right=right):
            assert len(dict(answers)) == len(set(dict(answers).values())) == len(answers) >= 3
            assert 0 <= right < len(answers)
            assert all(re.fullmatch(r".+[.]", why) for _, why in answers)
        case pictures.Walker(start=p, parameters=parameters) as walker:
            assert all(each.low <= each.default <= each.high for each in (p, walker.rate, *parameters))
            assert 0 < p.low < p.high < 1, "neither end is left by a walk"
            assert 0 < walker.drawn <= walker.runs
            said = json.dumps(walker.estimators)
            assert all(f'"{each.name}"' in said for each in parameters), "each slider moves something"
        case pictures.Order(steps=steps):
            assert len({text for text, _ in steps}) == len({why for _, why in steps}) == len(steps) >= 4


def test_the_lessons_that_a_browser_reads_are_of_every_kind():
    def kind(key: str) -> tuple[str, frozenset[str]]:
        kinds = frozenset(picture["kind"] for picture in data(key)["pictures"])
        return type(LESSONS[key].prediction).__name__, kinds

    assert {kind(key) for key in KINDS} == {kind(key) for key in LESSONS}
