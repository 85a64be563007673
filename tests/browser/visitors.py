"""Visitors' browser profiles, which last or are fresh, and their tabs, whose errors are kept."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, ClassVar
from urllib.parse import urlsplit
from weakref import WeakSet

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Playwright, ViewportSize

from tests.browser.chromium import launch_lasting
from tests.browser.reading import forget

Open = Callable[..., Page]
First = Callable[..., Page]
# Most tests are of a visitor who has chosen all tools; ``test_calm`` is of one who has not.
ALL_TOOLS = """try { localStorage.setItem("gradient-explorer.all-tools", "true"); } catch {}"""
NOTHING_CHOSEN = """try { localStorage.removeItem("gradient-explorer.all-tools"); } catch {}"""
VIEWPORT: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
FINGER = {"has_touch": True, "is_mobile": True}
A_PHONE = {"size": (390, 844), **FINGER}
PATIENCE_MS = 20_000  # a busy machine is no failure
LOADING_MS = 60_000  # the first page waits for what the server loads, and all that follow need it


class Tab:
    """A page that tests share, and what it has logged as an error."""

    _all: ClassVar["WeakSet[Tab]"] = WeakSet()

    def __init__(self, context: BrowserContext) -> None:
        self.errors: list[str] = []
        self._watchers: list[Callable[[Page], None]] = [self._watch]
        self._open(context)
        Tab._all.add(self)

    def _open(self, context: BrowserContext) -> None:
        self.page = context.new_page()
        for watch in self._watchers:
            watch(self.page)

    def watch(self, watch: Callable[[Page], None]) -> None:
        """Call a function with the page, and with each page that replaces it."""
        self._watchers.append(watch)
        watch(self.page)

    def _watch(self, page: Page) -> None:
        page.on("console", self._logged)
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    @classmethod
    def renew_all(cls) -> None:
        """Replace the page of each tab, as after a failed test."""
        for tab in list(cls._all):
            tab.renew()

    def renew(self) -> None:
        """Replace the page by an empty one, without routes, sessions or anything that its site has stored."""
        if self.page.is_closed():
            return
        used, context = self.page, self.page.context
        self._open(context)
        where = urlsplit(used.url)
        stored = {"origin": f"{where.scheme}://{where.netloc}", "storageTypes": "local_storage"}
        if where.netloc:
            context.new_cdp_session(self.page).send("Storage.clearDataForOrigin", stored)
        context.clear_permissions()
        used.close()

    def _logged(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(f"{message.text} {message.location}")

    def leave(self) -> None:
        """Make it a page that nobody has been on, but for what the browser has compiled for it."""
        self.page.unroute_all(behavior="ignoreErrors")
        if self.page.url != "about:blank":
            forget(self.page)
            self.page.evaluate("localStorage.clear()")  # a class that it leads is in the heading of each page
            self.page.mouse.move(0, 0)
            self.page.goto("about:blank")
        self.errors.clear()


class Profiles:
    """Lasting profiles by their options, and the tabs of each.

    Files are loaded and compiled for the first test of a tab alone: a visit in one that was left takes 0.9 s
    of the processor, in a new one 2.5.
    """

    def __init__(self, playwright: Playwright, address: str, stack: ExitStack) -> None:
        self._playwright, self._address, self._stack = playwright, address, stack
        self._contexts: dict[str, BrowserContext] = {}
        self._left: dict[BrowserContext, list[Tab]] = {}

    def find(self, **options: Any) -> BrowserContext:
        """The profile with these of Playwright's options, such as has_touch."""
        key = json.dumps(options, sort_keys=True)
        if key not in self._contexts:
            lasting = launch_lasting(self._playwright, **make_options(self._address, **options))
            self._contexts[key] = prepare_context(self._stack.enter_context(lasting))
        return self._contexts[key]

    def take(self, **options: Any) -> Tab:
        """A tab of the profile with these options that nobody uses."""
        context = self.find(**options)
        left = self._left.setdefault(context, [])
        tab = left.pop() if left else Tab(context)
        tab.page.bring_to_front()  # behind another one it draws seldom: a test took five times as long
        return tab

    @contextmanager
    def lend(self, **options: Any) -> Iterator[Tab]:
        """Lend a tab in the default window, and take it back at the end."""
        tab = self.take(**options)
        tab.page.set_viewport_size(VIEWPORT)
        yield tab
        self.give_back(tab)

    def give_back(self, tab: Tab) -> None:
        """Let another test have a tab; one that has been closed is nobody's."""
        if not tab.page.is_closed():
            tab.leave()
            self._left[tab.page.context].append(tab)


def make_options(address: str, **options: Any) -> dict[str, Any]:
    """Playwright's options of a profile, some of them others than usual.

    Playwright waits for text that it evaluates again and again, which the server's policy forbids to all.
    Curves do not glide, nor does anything fade, which takes a tenth of the processor: ``chart`` tries that.
    """
    quiet: dict[str, Any] = {"bypass_csp": True, "reduced_motion": "reduce"}
    return {"base_url": address, "viewport": VIEWPORT, **quiet, **options}


def profile(browser: Browser, address: str, **options: Any) -> BrowserContext:
    """A fresh browser profile; ``options`` are Playwright's, such as has_touch."""
    return prepare_context(browser.new_context(**make_options(address, **options)))


def prepare_context(context: BrowserContext) -> BrowserContext:
    """Return the profile with all tools and with time limits for a busy machine."""
    context.add_init_script(ALL_TOOLS)
    context.set_default_timeout(PATIENCE_MS)
    context.set_default_navigation_timeout(LOADING_MS)
    return context
