"""Pages of the site of plain files, whose wrong requests and errors are kept."""

from collections.abc import Callable, Iterator

from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect

from tests.browser.reading import CHART, sign
from tests.browser.visitors import ALL_TOOLS

PREFIX = "some/where"


def _is_error(message: ConsoleMessage) -> bool:
    """All but that answers are missing: a badge asks for some after a rest, and most are not written here."""
    return message.type == "error" and "/answers/" not in message.location["url"]


class Watched:
    """A page whose wrong requests and errors are kept."""

    def __init__(self, chromium: Browser, is_wrong: Callable[[Request], bool]) -> None:
        self.context = chromium.new_context(reduced_motion="reduce")
        self.context.add_init_script(ALL_TOOLS)
        self.page = self.context.new_page()
        self._wrong: list[str] = []
        say = self._wrong.append
        self.page.on("request", lambda request: say(request.url) if is_wrong(request) else None)
        self.page.on("console", lambda message: say(message.text) if _is_error(message) else None)
        self.page.on("pageerror", lambda error: say(str(error)))

    def lend(self) -> Iterator[Page]:
        """Lend the page; a wrong request or an error there fails the test."""
        self.page.set_viewport_size({"width": 1366, "height": 768})
        self.page.emulate_media(color_scheme="light")
        yield self.page
        self.page.evaluate("sessionStorage.clear()")
        assert (self._wrong, self.context.cookies()) == ([], [])


def wait_until_drawn(page: Page, text: str) -> None:
    page.locator(f"{CHART} .cartesianlayer").first.wait_for()
    expect(sign(page)).to_have_text(text)
