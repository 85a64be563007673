"""Links: choices come back exactly, and what cannot be had is said and never raised."""

import random
from dataclasses import replace
from urllib.parse import parse_qs, urlencode

import pytest

from explorer.catalogue import find_op, find_rule
from explorer.curves import sample
from explorer.training.settings.setting import split_names
from explorer.ui.links import link, training_words
from explorer.ui.links.choice import Choice
from explorer.ui.links.curve_words import tidy_range
from explorer.ui.links.link import MAX_QUERY, from_query, from_text, get_query_length, is_embedded
from explorer.ui.links.presets import PRESETS
from explorer.ui.server import answers
from tests.selection import take_part
from tests.ui.choices import query_of, random_choice

MANY = 2_000


def test_a_choice_comes_back_from_its_link():
    for seed in take_part(range(MANY)):
        choice = random_choice(random.Random(seed))
        query = query_of(choice)
        if get_query_length(query) <= MAX_QUERY:
            through_address = parse_qs(urlencode(query, doseq=True), keep_blank_values=True)
            assert through_address == query
            assert from_query(through_address) == (choice, [])


def test_a_link_to_spikes_without_an_op_takes_that_of_the_task():
    read, notices = from_text("task=spikes&k=2")
    assert (read.op, read.rules[3], read.parameters, notices) == ("step", "boxcar", {"k": 2, "w": 0.05}, [])
    label, (said,) = from_text("task=binary_weights")
    assert (label.task, said) == (
        "binary weights",
        'The link\'s task "binary_weights" is read as Binary weights.',
    )
    assert from_text("task=Random%20data") == (Choice(), [])
    assert from_text("optimizer=adam") == (Choice(optimiser="adam"), [])
    assert from_text("task=spikes&op=round")[0].op == from_text("task=digits")[0].op == "round"


def test_a_plus_in_a_link_by_hand_survives():
    for formula in ("x+1", " x + 1", "a+(x-1)+2e+3", "relu(x)+.5", " (x>0)+~(x<1)"):
        choice, notices = from_text(f"op=formula:{formula}&rule=formula:g+{formula}")
        assert (choice.op, notices) == (find_op(f"formula:{formula}").key, [])
        assert choice.rules == (find_rule(f"formula:g+{formula}").key,)
    assert "cannot be read" in from_text("op=formula:relu%20(x)+*")[1][0]  # blanks that are no plus


@pytest.mark.parametrize("query", ["a=1&" * 2_000_000, "op=sign&x=" + "%41" * MAX_QUERY])
def test_a_query_that_is_too_long_is_not_parsed(query, monkeypatch):
    """8 MB of it took seconds, and whoever has a page open may send them."""
    answers.render_explore("")  # its examples are links too, read once
    parsed = []
    monkeypatch.setattr(link, "parse_qs", lambda text, **_: parsed.append(len(text)) or {})
    choice, (notice,) = from_text(query)
    assert (choice, f"longer than {MAX_QUERY} characters" in notice) == (Choice(), True)
    assert answers.render_explore(query)
    assert max(parsed, default=0) < MAX_QUERY


def test_a_link_that_writes_every_character_as_a_code_is_read():
    query = {"op": ["sign"], "rule": [f"formula: g * {number} + w" for number in range(3)]}
    pairs = [(key, text) for key in query for text in query[key]]
    coded = "&".join(f"{key}={''.join(f'%{code:02X}' for code in text.encode())}" for key, text in pairs)
    assert from_text(coded) == from_query(query)


def test_whether_a_query_asks_for_a_frame():
    for query in ("embed=true", "op=relu&embed=True", "embed=false&embed=true", "embed=true&" * 2_000_000):
        assert is_embedded(query)
    for query in ("embed=true&embed=false", "x=embed=true", ""):
        assert not is_embedded(query)


def test_a_parameter_named_like_a_query_parameter_gets_a_prefix():
    query = {"op": ["relu"], "rule": ["formula: g * steps"], "steps": ["7"], "p.steps": ["2.5"]}
    choice, notices = from_query(query)
    assert (dict(choice.parameters), choice.steps, notices) == ({"steps": 2.5}, 7, [])


def test_rules_keep_their_colours_or_are_hidden_and_a_section_is_open():
    query = {"rule": ["zero", "masked"], "colours": ["31"]}
    choice, notices = from_query(query)
    assert (choice.colours, notices) == ("31", [])
    assert from_query(query | {"colours": ["12"]}) == (replace(choice, colours=""), [])
    for text in ("3", "33", "07", "1x", "123", "\u0661\u0662"):
        choice, (notice,) = from_query(query | {"colours": [text]})
        assert choice.colours == ""
        assert "do not suit its 2 rules" in notice
    query = {"rule": ["zero", "masked"], "hide": ["masked"], "section": ["code"]}
    choice, notices = from_query(query)
    assert (choice.hide, choice.section, notices) == (("masked",), "code", [])
    choice, notices = from_query({"rule": ["zero"], "hide": ["masked"], "section": ["cellar"]})
    assert (choice.hide, choice.section) == ((), "")
    assert [notice.split()[2] for notice in notices] == ["hides", "opens"]


def test_a_parameter_that_learns():
    query = {"op": ["quantize"], "rule": ["lsq", "default"], "learns": ["s"]}
    assert from_query(query)[0].learns == "s"
    assert from_query(query)[0].sampling["learns"] == "s"
    sign = {"op": ["sign"], "rule": ["clipped"]}
    for other, why in ((query, "choose s, qmin, qmax"), (sign, "its op and rules have nothing to learn")):
        choice, notices = from_query(other | {"learns": ["c"]})
        assert (choice.learns, notices) == ("", [f'The link lets "c" learn, which it cannot: {why}.'])


def test_commas_within_a_custom_formula_do_not_separate_learned_parameters():
    mine = "formula: mine = g * where(x > 0, 1, 0)"
    assert split_names(f"s, {mine}.s,lo") == ("s", f"{mine}.s", "lo")


def test_a_slider_may_be_widened_but_keeps_its_sign():
    refused = (("sign", "c", "-1"), ("sign", "c", "1e7"), ("quantize", "qmin", "1"))
    for op, name, text in (("sign", "c", "33"), *refused):
        choice, notices = from_query({"op": [op], "rule": ["clipped"], name: [text]})
        is_refused = (op, name, text) in refused
        assert dict(choice.parameters) == ({} if is_refused else {name: float(text)})
        assert bool(notices) == is_refused


def test_any_depth_that_float64_allows():
    for ends in ((1.0, 1.0 + 1e-11), (0.0, 1e-29)):
        assert tidy_range(*ends) == (ends, [])
    assert tidy_range(1.0, 1.0 + 1e-13)[1]


@pytest.mark.parametrize("value", [0.1, 1 / 3, 5e-324, -1e-300, 123456.789, 1e6, -3.0, 1 - 2**-53, 0.0])
def test_numbers_come_back_exactly(value: float):
    choice = Choice(op="identity", rules=("zero",), g=value, range=(value - 2, value))
    assert from_query(query_of(choice)) == (choice, [])


def test_a_query_that_is_too_long_is_not_used():
    # Characters as they stand in the address bar: a space and a + each count for what they become there.
    query = {"op": ["formula: x" + " + x" * 10], "rule": ["default"], "task": ["a"]}
    room = MAX_QUERY - get_query_length(query)
    query["task"] = ["a" * (room + 1)]
    assert get_query_length(query) == len(urlencode(query, doseq=True)) == MAX_QUERY
    assert from_query(query)[0].op == find_op(query["op"][0]).key
    query["task"][0] += "a"
    choice, notices = from_query(query)
    assert choice == Choice()
    assert notices == [f"The link is longer than {MAX_QUERY} characters and was not used."]


def test_presets_are_links_without_fault_and_differ(subtests: pytest.Subtests):
    for preset in PRESETS:
        with subtests.test(preset.name):
            choice, notices = from_query(parse_qs(preset.query, strict_parsing=True))
            assert (preset.choice, []) == (choice, notices) == from_query(query_of(choice))
            assert preset.hint.endswith(".")
            start, stop = choice.range
            sample(choice.op, choice.rules, start=start, stop=stop, g=choice.g, **choice.parameters)
    assert len({preset.name for preset in PRESETS}) == len(PRESETS)
    assert len({urlencode(query_of(preset.choice), doseq=True) for preset in PRESETS}) == len(PRESETS)


def test_an_unknown_key_is_named_with_what_may_be_meant():
    for query, notice in (
        ("op=rond", "The link names an unknown op \"rond\" (did you mean 'round'?). Round is shown."),
        ("rule=strait_through", "unknown rule \"strait_through\" (did you mean 'straight_through'?)."),
        ("op=clipped", 'The link names an unknown op "clipped" (it is a rule). Round is shown.'),
        ("op=qqqq", 'The link names an unknown op "qqqq". Round is shown.'),
        ("rules=strait_through", "unknown rule \"strait_through\" (did you mean 'straight_through'?)."),
        ("task=mnist", "there is no such task, Digits is shown instead."),
    ):
        choice, (said,) = from_text(query)
        assert said[-len(notice) :] == notice
        assert choice == (from_text("task=digits")[0] if "task" in query else Choice())


RACE = "task=digits&op=sign&rule=default&rule=clipped&steps=100"
BAD_BRANCHES = [
    ("400,lr:0.1", ((99, "lr", 0.1),), "branches at step 400, past the end: step 99 is taken."),
    ("40,zero:default", (), "one of the rules (default, clipped) can change."),
    ("40,default:nothing", (), 'names an unknown rule "nothing"'),
    ("40,lr:1e999", (), "lr must be a finite number"),
    ("40,lr:-1", (), "lr must be above 0"),
    ("9999999999999,lr:1", (), "it must be a step, a name and a value"),
    ("40", (), "it must be a step, a name and a value"),
    ("40,default:formula: g *", (), "own rule"),
]


def test_branch_points_come_back_from_a_link():
    own = "formula: g * (abs(x) <= 1)"
    branch = ((3, "lr", 1e-05), (3, "default", own), (40, "op", "tanh"), (50, "rule", "zero"))
    texts = [f"{step},{name}:{value}" for step, name, value in branch]
    choice, notices = from_text(f"{RACE}&{urlencode({'branch': texts}, doseq=True)}")
    assert (choice.branch, notices) == (branch, [])
    assert from_query(query_of(choice)) == (choice, [])


def test_an_invalid_branch_gets_a_notice(subtests: pytest.Subtests):
    for text, taken, said in BAD_BRANCHES:
        with subtests.test(text):
            choice, (notice,) = from_text(f"{RACE}&{urlencode({'branch': text})}")
            assert (choice.branch, choice.steps, said in notice) == (taken, 100, True)


def test_of_three_branches_the_last_two_where_two_are_taken(monkeypatch):
    monkeypatch.setattr(training_words, "MAX_BRANCHES", 2)
    choice, notices = from_text(RACE + "".join(f"&branch={step},lr:0.1" for step in (1, 2, 3)))
    assert choice.branch == ((2, "lr", 0.1), (3, "lr", 0.1))
    assert notices == ["The link branches 3 times: the last 2 are taken."]


def test_of_branches_that_make_a_link_too_long_the_last_that_fit_are_taken():
    points = [f"{step},op:formula: x + {step}{' + x' * 12}" for step in range(40)]
    branch = urlencode({"branch": points}, doseq=True)
    assert MAX_QUERY < len(f"{RACE}&{branch}") < 3 * MAX_QUERY
    choice, (notice,) = from_text(f"{RACE}&{branch}")
    steps = [step for step, _, _ in choice.branch]
    assert steps == list(range(40))[-len(steps) :]
    assert 10 < len(steps) < 40
    taken = f"the last {len(steps)} of its 40 branch points are taken."
    assert notice == f"The link is longer than {MAX_QUERY} characters: {taken}"
    assert (choice.task, choice.op, choice.steps) == ("digits", "sign", 100)
    hopeless = {"op": ["x" * MAX_QUERY], "branch": points}
    found = from_query(hopeless)
    assert found == (Choice(), [f"The link is longer than {MAX_QUERY} characters and was not used."])


def test_a_link_says_what_slow_motion_shows_and_a_missing_stage_gets_a_notice():
    for slow in ("input", "gradient,2", "weights,6,4,256,64"):
        assert from_query({"slow": [slow]}) == (Choice(slow=slow), [])
    for slow in ("7", "cellar", "gradient,0", "x,1,1,1,1,1", "x,-1", "x,99999", "x,1;2"):
        choice, (notice,) = from_query({"slow": [slow]})
        assert (choice.slow, "Slow motion is left closed" in notice) == ("", True), slow
