"""The view model of the evidence: alignment, the rows of "Why", what is asked of instruments."""

import numpy as np
import pytest

from tests.frontend.modules import Node
from tests.frontend.train.conftest import Run, choice
from tests.frontend.train.page.conftest import ROUND, SEEN, measured, status


def test_the_alignment_is_of_the_last_hidden_layer_or_the_one_chosen(picture: Run):
    seen = measured("default", "straight_through")
    first = picture(SEEN, status=seen)["alignment"]
    assert [(s["name"], s["y"]) for s in first["chart"]["series"]][1] == ("Straight-through", [0.75, 0.875])
    assert first["title"].endswith("after w2")
    assert first["note"] == "No gradient: Default autograd. Mean of the last 5 measures."
    other = picture(SEEN + "state.layer = 0;", status=seen)["alignment"]
    assert other["chart"]["series"][1]["y"] == [0.25, 0.375]
    assert not any("meta" in series for series in first["chart"]["series"])  # a rule has one curve of its own


def test_a_point_of_the_alignment_is_the_mean_of_those_before_it_and_of_one_sigma(node: Node):
    average = "train/state/series.js averageTrailing"
    assert node.call(average, [1, 2, 3, 4, 5, 6], [0.5] * 6, 5) == [1, 1.5, 2, 2.5, 3, 4]
    assert node.call(average, [1, 2, 3, 4], [0.5, 0.5, 2, 2], 5) == [1, 1.5, 3, 3.5]
    gap = np.array([1, np.nan, 3])
    np.testing.assert_array_equal(node.call(average, gap, [0.5] * 3, 5), [1, np.nan, 2])


def test_chart_and_table_say_one_number_for_an_alignment(picture: Run):
    seen = measured("default", "straight_through")
    shown = picture(SEEN, status=seen)
    assert shown["rows"]["aligned"] == {"straight_through": "0.88"}
    assert "Straight-through: 0.88. " in shown["alignment"]["chart"]["words"] + " "
    signs = picture(f"{SEEN} state.aligned = 'agreements';", status=seen)
    assert signs["rows"]["aligned"] == {"straight_through": "87.5"}


def test_lines_after_the_selected_step_are_thin(picture: Run):
    rules = ("default", "straight_through")
    latest, then = measured(*rules), measured(*rules)
    for known in then["snapshot"]["measured"]["alignment"].values():
        known["cosines"] = [each[:1] for each in known["cosines"]]
    then["snapshot"] |= {"measured_steps": [0], "measured_sigmas": [0.5]}
    back = SEEN + "state = { ...state, at: 0, displayed: given.seen };"
    shown = picture(back, status=latest, seen=then | {"step": 0})
    series = shown["alignment"]["chart"]["series"]
    later, now = ([each for each in series if each.get("faint") is faint] for faint in (True, None))
    assert [(s["x"], s["ends"]) for s in later] == [([0, 2], False)] * 2
    assert [s["x"] for s in now] == [[0]] * 2
    assert shown["rows"]["aligned"] == {"straight_through": "0.75"}
    assert not any(s.get("faint") for s in picture(SEEN, status=latest)["alignment"]["chart"]["series"])


def test_with_another_sigma_the_curve_ends_in_what_is_measured_now(picture: Run):
    """At rest no further point is taken: what the slider does is seen at the end of each curve."""
    seen = measured("default", "straight_through")
    records = seen["snapshot"]["measured"]["alignment"]
    records["straight_through"] |= {"cosine": [0.1, 0.2], "agreement": [0.3, 0.4]}
    records["default"] |= {"cosine": [None, None], "agreement": [None, None]}
    seen["snapshot"] |= {"sigma": 2.0, "step": 3}
    (_, curve) = picture(SEEN, status=seen)["alignment"]["chart"]["series"]
    assert (curve["x"], curve["y"]) == ([0, 2, 3], [0.75, 0.875, 0.2])
    seen["snapshot"]["measured_sigmas"] = [0.5, 2.0]
    (_, curve) = picture(SEEN, status=seen)["alignment"]["chart"]["series"]
    assert (curve["x"], curve["y"]) == ([0, 2], [0.75, 1.0])


def test_a_measurement_that_a_task_lacks_is_explained(picture: Run):
    seen = status("running", "default", "straight_through")
    why = "Not measured here: the op stands at the weights."
    seen["snapshot"] |= {"unmeasured": {"alignment": why, "inputs": why}}
    rows = picture(SEEN, status=seen)["why"]["rows"]
    assert "inputs" not in {row["panel"]["key"] for row in rows}  # it is not open by itself
    shown = picture(SEEN + "state.panels = { inputs: true };", status=seen)
    assert (shown["alignment"]["missing"], shown["alignment"]["note"]) == (why, "")
    assert {row["panel"]["key"]: row["missing"] for row in shown["why"]["rows"]}["inputs"] == why


def test_after_a_branch_the_rule_in_force_is_named_and_drawn(picture: Run):
    seen = status("running", "default", "straight_through")
    at = [{"words": "", "blocks": [{"kind": "histogram", "curve": True, "ends": [-1.0, 1.0]}]}]
    seen["snapshot"] |= {"step": 3, "learned": {}}
    seen["snapshot"]["measured"] = {"inputs": {"default": at, "straight_through": at}}

    def shown(branch: str) -> tuple[list[str], list[list[float]]]:
        recorded = seen | {"recorded": {"lr": "0.1", "branch": branch}}
        body = f"{SEEN} state.panels = {{ inputs: true }}; state.choice.slow = 'input';"
        result = picture(body, status=recorded)
        row = next(row for row in result["why"]["rows"] if row["panel"]["key"] == "inputs")
        names = [line["label"] for line in result["rows"]["lines"]]
        assert [cell["line"]["label"] for cell in row["cells"]] == names
        assert [rule["label"] for rule in result["slow"]["rules"]] == names
        return names, [[point["y"] for point in cell["picture"]["curve"]] for cell in row["cells"]]

    names, (zero, straight) = shown("")
    assert names == ["Default autograd", "Straight-through"]
    assert (zero != straight, len(zero)) == (True, len(straight))
    names, curves = shown("2,default:straight_through")
    assert names == ["Straight-through (was Default autograd)", "Straight-through"]
    assert curves == [straight, straight]
    assert shown("3,default:straight_through") == shown("")  # no step was taken with it yet
    _, (relu, _) = shown("1,op:relu")
    assert relu not in (zero, straight)


def test_a_panel_that_is_closed_is_not_asked_for_until_the_run_is_over(picture: Run):
    body = """
        const { listRequests } = await import("./train/panels/panels.js");
        state.panels = { norms: false };
        const over = { ...state, view: view({ ...given.status, state: "finished" }) };
        return [listRequests(state), listRequests(over)];
    """
    open_, over = picture(f"{SEEN} {body}", status=status("running", *ROUND[1:]))
    assert "norms" not in open_
    assert {"alignment", "causes"} <= set(open_) < set(over)
    assert {"inputs", "norms"} <= set(over)


def test_of_many_rules_only_the_one_pointed_at_has_its_regions_measured(picture: Run):
    body = """
        const { listRequests } = await import("./train/panels/panels.js");
        state.panels = { regions: given.open };
        const at = (plane, state_ = {}) =>
            listRequests({ ...state, plane, ...state_ }).filter((text) => text.startsWith("regions"));
        const over = { view: view({ ...given.status, state: "finished" }) };
        return [at(null), at("clipped"), at("clipped", over), at("gone")].flat();
    """

    def asked(*rules: str, is_open: bool = False) -> list[str]:
        given = {"status": status("running", *rules), "choice": choice("sign", *rules, task="moons")}
        return picture(f"{SEEN} {body}", open=is_open, **given)

    three = ("default", "straight_through", "clipped")
    assert asked(*three) == ["regions?rule=2", "regions?rule=3", "regions", "regions?rule=2"]
    assert asked(*three, is_open=True) == ["regions"] * 4
    assert asked(*three[1:]) == ["regions"] * 4


def test_a_number_that_is_chosen_for_an_instrument_is_asked_for_and_shown(picture: Run):
    seen = status("running", "fast_sigmoid")
    seen["snapshot"] |= {"most": {"raster": {"example": 359}}}
    body = 'const { listRequests } = await import("./train/panels/panels.js");'
    of = {"status": seen, "choice": choice("step", "fast_sigmoid", task="spikes")}
    chosen = f"{SEEN} {body} state = {{ ...state, numbers: {{ raster: {{ example: 7 }} }} }};"
    assert "raster" in picture(f"{SEEN} {body} return listRequests(state);", **of)
    assert "raster?example=7" in picture(f"{chosen} return listRequests(state);", **of)
    rows = {row["panel"]["key"]: row for row in picture(chosen, **of)["why"]["rows"]}
    assert rows["raster"]["numbers"] == [{"value": 7, "most": 359}]
    assert rows["causes"]["numbers"] == []


def test_the_page_says_of_which_seed_its_pictures_are(picture: Run):
    seen = status("running", "default", "straight_through")
    seen["snapshot"] |= {"seeds": 5, "seed": {"default": 3, "straight_through": 3}}
    assert picture(SEEN, status=seen)["why"]["of"] == "Pictures of seed 3"
    seen["snapshot"]["seed"]["straight_through"] = 4
    other = picture(SEEN, status=seen)
    assert other["why"]["of"] == "Pictures of seed 3; Straight-through of seed 4: the first that is finite"
    assert other["rows"]["several"], "the numbers of the table are means of all seeds"
    seen["snapshot"]["seeds"] = 1
    assert picture(SEEN, status=seen)["why"]["of"] == ""


def test_closed_evidence_is_left_out_only_while_a_run_moves(picture: Run):
    """It would cost a tenth of each picture."""
    closed = SEEN + "state = { ...state, evidence: false };"
    assert picture(closed, status=status("running", "default"))["why"] is None
    for state, body in (("running", SEEN), ("paused", closed), ("finished", closed)):
        assert picture(body, status=status(state, "default"))["why"]["rows"], (state, body)


def test_the_layers_to_choose_are_those_with_the_op(picture: Run):
    """One that a smaller net has not is not shown. Of weights it is one more, and the last is shown first."""
    three = choice(*ROUND, task="digits", hidden="8,8,8")
    assert picture("state.layer = 2;", choice=three)["why"]["layers"]["names"][2:] == ["after w3"]
    assert picture("state.layer = 2;")["why"]["layers"]["chosen"] == 0
    seen = status("running", "default")
    seen["snapshot"] |= {"most": {"raster": {"example": 9}, "unit": {"layer": 1, "cause": 3}}}
    of = {"status": seen, "choice": choice("sign", "default", task="binary weights")}
    assert picture(SEEN, **of)["why"]["layers"] == {"count": 2, "names": ["w1", "w2"], "chosen": 1}


def test_the_answer_to_a_request_is_of_its_step_and_run(picture: Run):
    seen = status("running", "default", "straight_through")
    answer = {"default": None, "straight_through": {"unit": 2, "example": 0, "words": "g = 0.2: g * 0 = 0"}}
    body = f"""{SEEN}
        const made = {{ numbers: {{ layer: 0, cause: 2 }}, step: 7, run: given.run, answer: given.answer }};
        state = {{ ...state, requests: {{ unit: made }} }};
    """
    of = {"status": seen, "run": "a", "answer": answer}
    row = next(r for r in picture(body, **of)["why"]["rows"] if r["panel"]["key"] == "causes")
    assert row["pressed"] == 2
    assert [cell["answer"]["words"] for cell in row["cells"]] == [
        "Step 7: no unit of this layer.", "Step 7, unit 3, example 1:",
    ]  # fmt: skip
    assert row["cells"][1]["answer"]["formula"] == "g = 0.2: g * 0 = 0"
    gone = next(r for r in picture(body, **of | {"run": "b"})["why"]["rows"])
    assert [cell["answer"] for cell in gone["cells"]] == [None, None]


def test_the_line_search_can_be_measured_and_repeated(picture: Run):
    body = f"""{SEEN}
        const of = (step, answer) => ({{ numbers: {{}}, step, run: "a", answer }});
        const shown = (each) => {{
            const open = {{ ...each, panels: {{ line_search: true }} }};
            const {{ measured, offer, chart }} = buildPicture(open).why.search;
            return [measured, offer, chart.empty];
        }};
        const now = state.view.status.step;
        const found = [null, of(now, null), of(now, {{}}), of(now - 1, {{}}), of(now, {{ message: "No." }})];
        return found.map((made) => shown(made ? {{ ...state, requests: {{ line_search: made }} }} : state));
    """
    assert picture(body, status=status("running", "default")) == [
        [False, "Measure", "Asking …"], [True, "", "Asking …"], [True, "", "Asking …"],
        [True, "Measure again", "Asking …"], [True, "Measure again", "No."],
    ]  # fmt: skip


def test_one_line_replaces_the_cells_if_every_rule_has_diverged(picture: Run):
    seen = status("diverged", *ROUND[1:])
    for lost, told in ((1, ""), (2, "No net is left to look at: every rule has diverged.")):
        seen["snapshot"]["diverged"] |= dict.fromkeys(ROUND[1 : 1 + lost], 7)
        shown = picture(SEEN, status=seen)
        rows = shown["why"]["rows"]
        assert {row["missing"] for row in rows} == {told}
        assert rows[0]["cells"][0]["empty"] == "Diverged at step 7"
        empty = shown["alignment"]["chart"]["empty"]
        assert empty == ("Every rule has diverged" if told else "Nothing before the first step")


@pytest.mark.parametrize("named", [{}, {"legend": "light to dark: setosa, virginica"}])
def test_a_picture_may_replace_the_first_text_of_the_legend(picture: Run, named: dict[str, str]):
    seen = status("running", *ROUND[1:])
    seen["snapshot"]["measured"] = {"regions": {ROUND[2]: [{"words": "", "blocks": [], **named}]}}
    chosen = {"choice": choice(*ROUND, task="moons")}
    rows = picture(SEEN, status=seen, **chosen)["why"]["rows"]
    (legend,) = [row["legend"] for row in rows if row["panel"]["key"] == "regions"]
    assert legend == [named.get("legend", "class 0 is light, the last class dark"), "held out", "trained on"]


def test_the_histogram_of_a_layer_can_be_shown_behind_the_curves_of_explore(picture: Run):
    """The passed gradient uses the mean of each bin, of values beyond the bins too, and no empty bin."""
    seen = status("running", *ROUND[1:])
    histogram = {
        "kind": "histogram", "counts": [50, 10, 20, 0], "bins": 4, "ends": [-2, 2],
        "means": [-3.0, -0.5, 0.25, None], "outside": "60 % lie beyond ±2.",
    }  # fmt: skip
    seen["snapshot"]["measured"] = {"inputs": {ROUND[1]: [{"words": "", "blocks": [histogram]}]}}
    body = f"""{SEEN}
        const {{ saveCarried, getData }} = await import("./choice/data.js");
        const row = buildPicture(state).why.rows.find(({{ panel }}) => panel.key === "inputs");
        const [{{ carry }}, other] = row.cells;
        saveCarried(carry.data);
        const {{ values, weights, bars, note, label }} = getData();
        saveCarried(null);
        const known = {{ values: [...values], weights: [...weights], bars, note, label }};
        return {{ ...known, address: carry.address, other: other.carry }};
    """
    carried = picture(body, status=seen)
    assert (carried["values"], carried["weights"]) == ([-3.0, -0.5, 0.25], [50, 10, 20])
    assert carried["bars"] == {"edges": [-2, -1, 0, 1, 2], "counts": [50, 10, 20, 0]}
    assert carried["label"].endswith("after w1, step 2 (80 numbers in 4 bins, each at the mean of its bin)")
    assert carried["note"] == "60 % lie beyond ±2."
    assert "range=-2&range=2" in carried["address"]
    assert carried["other"] is None


def test_learned_values_of_a_parameter_are_shown_next_to_its_slider(picture: Run):
    """Of each rule that lets it learn one a layer, on the op's card their ends, and before a run nothing."""
    seen = status("running", "lsq", "quantize_masked")
    chosen = choice("quantize", "lsq", "quantize_masked", task="ternary weights", learn="s")
    for learned, told, all_told in (
        ([5.274, 0.25], "now 5.274, 0.25", "now 0.25 to 9"),
        ([2.0, 1.0, 3.0], "now 1 to 3", "now 1 to 9"),
        ([None, 7.0, 6.0, 9.0], "now 6, 8", "now 6 to 9"),  # the mean of two seeds, where both are left
    ):
        seen["snapshot"] |= {"seeds": 2 if None in learned else 1}
        seen["snapshot"]["learned"] = {"lsq": {"s": learned}, "quantize_masked": {"s": [9.0] * len(learned)}}
        rules = {"lsq": {"s": told}, "quantize_masked": {"s": "now 9"}}
        shown = picture(SEEN, status=seen, choice=chosen)
        assert shown["present"] == {"op": {"s": all_told}, "rules": rules}
    rests = chosen | {"training": {"task": "ternary weights", "learn": "lsq.s"}}
    present = picture(SEEN, status=seen, choice=rests)["present"]
    assert present == {"op": {"s": told}, "rules": {"lsq": {"s": told}}}
    assert picture("", choice=chosen)["present"] == {"op": {}, "rules": {}}


def test_values_per_channel_show_their_range_next_to_the_slider(picture: Run):
    seen = status("running", "lsq", "quantize_masked")
    chosen = choice("quantize", "lsq", task="ternary kernels", learn="s", learn_each="channel")
    seen["snapshot"] |= {"seeds": 1, "learned": {"lsq": {"s": [1.0, 2.0]}}}
    bands = [[[1.0, 0.5], [1.0, 1.5]], [[2.0, 2.0]] * 2]  # the channels of the second layer are alike
    values = {"lines": [[1.0, 1.0], [2.0, 2.0]], "bands": bands}
    drawn = {"words": "", "blocks": [{"kind": "group", "name": "s", "blocks": [values]}]}
    seen["snapshot"]["measured"] = {"parameters": {"lsq": [drawn]}}
    present = picture(SEEN, status=seen, choice=chosen)["present"]
    assert present == {"op": {"s": "now 0.5 to 2"}, "rules": {"lsq": {"s": "now 0.5 to 2"}}}
    shown = picture(f'{SEEN} state.measure = "learned";', status=seen, choice=chosen)
    assert shown["heading"].startswith("Mean over channels of what learns")
