"""A sentence stands where nothing is said of ops and rules that draw, and where no net takes a rule."""

import pytest
from playwright.sync_api import Page, expect

from explorer.catalogue import RULES, explain_refusal
from explorer.instrument.view import SECTIONS, STOCHASTIC_TEXTS
from tests.browser.reading import link, turn
from tests.browser.training import button, status

DRAWN, FIXED = {"op": "bernoulli", "rule": "reinforce_baseline"}, {"op": "sign", "rule": "clipped"}
LABEL = "Bernoulli unit"
FLIP = RULES["flip"]
UNTRAINED = explain_refusal(FLIP, FLIP.label)
# What a section has beside its sentence.
FIGURES = {"format": ".format-numbers", "compare": ".compared", "map": ".maps canvas", "rest": ".rest-figure"}


def test_sections_for_deterministic_pairs_refuse_a_draw(explore: Page, subtests: pytest.Subtests) -> None:
    for section, figure in FIGURES.items():
        with subtests.test(section):
            learns = {"learns": "b"} if section == "rest" else {}
            turn(explore, link("/", {**DRAWN, "section": section, **learns}), shows=["reinforce_baseline"])
            instead = STOCHASTIC_TEXTS["fixed"].format(entry=LABEL, here=SECTIONS[section])
            expect(explore.get_by_text(instead)).to_be_visible()
            expect(explore.locator(figure).locator("visible=true")).to_have_count(0)
            expect(explore.locator(".learning .verdicts")).to_be_hidden()
    turn(explore, link("/", {**FIXED, "op": "round", "section": "map"}), shows=["clipped"])
    expect(explore.get_by_text("draws at random").locator("visible=true")).to_have_count(0)
    expect(explore.locator(FIGURES["map"]).first).to_be_visible()


def test_a_rule_that_no_net_trains_is_removed_with_one_press(page: Page) -> None:
    page.goto("/train?op=bernoulli&rule=flip&rule=reinmax&rule=disarm&task=moons")
    expect(page.locator(".reads .question")).to_have_text("Remove Flip to train the others.")
    expect(page.locator(".net")).to_be_hidden()
    expect(status(page)).to_contain_text(UNTRAINED)
    expect(status(page)).not_to_contain_text("Ready")
    expect(button(page, "Start")).to_be_disabled()
    expect(button(page, "Step")).to_be_disabled()
    status(page).get_by_role("button", name="Remove Flip").click()
    expect(status(page)).to_contain_text("Ready: press Start.")
    expect(button(page, "Start")).to_be_enabled()
    expect(page.locator(".card.rule h2")).to_have_text(["ReinMax", "DisARM"])
    expect(page.locator(".reads .question")).to_have_text("Which of the two will tell the two kinds apart?")
    expect(page.locator(".net")).to_be_visible()
    expect(status(page).get_by_role("button")).to_have_count(0)


def test_a_study_refuses_a_rule_that_no_net_trains(page: Page) -> None:
    page.goto(link("/study", {"op": "bernoulli", "rule": "flip", "task": "digits"}))
    expect(page.locator(".study .status")).to_contain_text(UNTRAINED)
    expect(page.locator(".study .status")).not_to_contain_text("Ready")
    expect(page.locator(".study .status")).to_contain_text("Choose another rule to train.")
    expect(button(page, "Start")).to_be_disabled()
