"""What one test leaves in a shared tab, and that a failed one leaves nothing."""

from playwright.sync_api import Browser

from tests.browser.visitors import Tab, profile

_STORE = "() => [localStorage, sessionStorage].forEach(store => store.setItem('left', '1'))"
_STORED = "() => [localStorage, sessionStorage].map(store => store.getItem('left'))"


def test_a_renewed_tab_has_no_traces_of_its_last_page(chromium: Browser, address: str) -> None:
    with profile(chromium, address) as context:
        tab = Tab(context)
        tab.watch(lambda page: page.add_init_script("window.watched = true"))
        tab.page.goto("/favicon.png")
        tab.page.evaluate(_STORE)
        tab.page.emulate_media(color_scheme="dark")
        tab.page.route("**/*", lambda route: route.abort())
        tab.renew()
        tab.page.goto("/favicon.png")
        assert tab.page.evaluate(_STORED) == [None, None]
        assert tab.page.evaluate("[matchMedia('(prefers-color-scheme: dark)').matches, watched]") == [
            False,
            True,
        ]
        assert len(context.pages) == 1
