"""The site of plain files on a web host, below a prefix: a link shows there what it shows in the app."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Browser, Page, expect

from explorer.site import write
from explorer.ui.links.presets import PRESETS
from tests.browser.files import serve_files
from tests.browser.reading import CHART, Trace, sign, traces, turn, visit
from tests.browser.sites import PREFIX, Watched
from tests.browser.visitors import Profiles
from tests.selection import take_part

_SIGN = re.compile("Confirmed by torch|Computed in the browser")
# The words of the cards, but for a badge, which comes when a page has rested.
CARDS = """[...document.querySelectorAll(".cards [role=group]")].map(card =>
    card.innerText.replace(card.querySelector(".failing")?.innerText ?? "", "").replace(/\\n+/g, "\\n"))"""
KINK = 1e-4  # points that lie closer are at a kink
LINKS = (
    "op=round&rule=default&rule=clipped",
    "op=sign&rule=clipped&rule=approx_sign&c=0.5&hide=approx_sign&colours=31&range=-2&range=2.5&g=-0.5",
    "op=clamp&rule=masked&rule=published_clamp&lo=-1&hi=2&g=2&section=rest&task=digits",
    "op=quantize&rule=lsq&s=0.6&qmin=-2&qmax=1&learns=s",
    "op=reciprocal&rule=default&rule=sigmoid_surrogate&rule=atan_surrogate&atan_surrogate.a=1",
    *(preset.query for preset in PRESETS[2:4]),
)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the site on a plain web host, below a prefix."""
    folder: Path = tmp_path_factory.mktemp("site")
    write(folder / PREFIX, ops=(), lessons=("autograd",))
    with serve_files(folder) as address:
        yield f"{address}/{PREFIX}/"


@pytest.fixture(scope="module")
def visitor(chromium: Browser, host: str) -> Iterator[Watched]:
    watched = Watched(chromium, lambda request: not request.url.startswith((host, "data:", "blob:")))
    yield watched
    watched.context.close()


@pytest.fixture
def served(visitor: Watched) -> Iterator[Page]:
    """Opens pages of a plain web host below a prefix; a request beside it or an error fails the test."""
    yield from visitor.lend()


@pytest.fixture(scope="module")
def app(profiles: Profiles) -> Iterator[Page]:
    """Explore of the app in a tab that other tests leave alone: what they open or pin there would differ."""
    with profiles.lend() as tab:
        visit(tab.page, "/")
        expect(tab.page.locator(".served")).to_have_count(0)
        yield tab.page
        assert not tab.errors


@pytest.mark.parametrize("query", take_part(LINKS))
def test_a_link_shows_the_same_on_site_and_app(app: Page, served: Page, host: str, query: str) -> None:
    turn(app, f"/?{query}")
    served.goto(f"{host}?{query}")
    served.locator(f"{CHART} .cartesianlayer").first.wait_for(timeout=60_000)
    expect(sign(served)).to_have_text(_SIGN)
    _assert_same(served, app)
    fields = "[...document.querySelectorAll('.instrument input')].map(field => field.value)"
    assert served.evaluate(fields) == app.evaluate(fields)


def _assert_same(served: Page, app: Page) -> None:
    """Both pages show the same curves, cards and address."""
    ours, theirs = traces(served), traces(app)
    assert list(ours) == list(theirs)
    for key, curve in ours.items():
        assert curve.name == theirs[key].name
        np.testing.assert_allclose(_even(curve), _even(theirs[key]), rtol=1e-4, atol=1e-5)
    assert served.evaluate(CARDS) == app.evaluate(CARDS)
    assert parse_qs(urlsplit(served.url).query) == parse_qs(urlsplit(app.url).query)


def _even(curve: Trace) -> NDArray[np.float64]:
    """The points of a curve but those at and beside a kink, where float32 rounds to another side; (2, n)."""
    near = np.diff(curve.x, prepend=-np.inf, append=np.inf) < KINK
    return np.stack([curve.x, curve.y])[:, ~(near[:-1] | near[1:])]
