"""Pages of the site of plain files, whose wrong requests and errors are kept."""

from collections.abc import Callable, Iterator

from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect

from tests.browser.reading import CHART, sign
from tests.browser.visitors import ALL_TOOLS, Tab

PREFIX = "some/where"


class Watched(Tab):
    """A page whose wrong requests and errors are kept."""

    def __init__(self, chromium: Browser, is_wrong: Callable[[Request], bool]) -> None:
        self.context = chromium.new_context(reduced_motion="reduce")
        self.context.add_init_script(ALL_TOOLS)
        super().__init__(self.context)
        note = lambda request: self.errors.append(request.url) if is_wrong(request) else None  # noqa: E731
        self.watch(lambda page: page.on("request", note))

    def _logged(self, message: ConsoleMessage) -> None:
        """Note errors but that answers are missing: a badge asks for them, and few are written here."""
        if "/answers/" not in message.location["url"]:
            super()._logged(message)

    def lend(self) -> Iterator[Page]:
        """Lend the page; a wrong request or an error there fails the test."""
        self.page.set_viewport_size({"width": 1366, "height": 768})
        self.page.emulate_media(color_scheme="light")
        yield self.page
        self.page.evaluate("sessionStorage.clear()")
        assert (self.errors, self.context.cookies()) == ([], [])


def wait_until_drawn(page: Page, text: str) -> None:
    page.locator(f"{CHART} .cartesianlayer").first.wait_for()
    expect(sign(page)).to_have_text(text)
