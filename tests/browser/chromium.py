"""The browser of the tests: which one, and how it is started.

``python -m tests.browser.chromium`` starts it once, and fails when that cannot be done.
"""

import shutil
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Playwright, sync_playwright

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# The first three are two renderers that every window starts for its address bar: half of what a page costs.
# The others stand in Playwright's own list, which this one replaces.
WITHOUT = (
    "WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup", "HttpsUpgrades", "LensOverlay",
    "MediaRouter", "OptimizationHints", "PaintHolding", "ThirdPartyStoragePartitioning",
)  # fmt: skip
ARGUMENTS = (
    f"--disable-features={','.join(WITHOUT)}", "--no-sandbox", "--disable-gpu", "--disable-quic",
    "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


def find(playwright: Playwright) -> str | None:
    """The machine's own Chromium, else the one Playwright has downloaded, else None."""
    own = next(filter(None, map(shutil.which, NAMES)), None)
    downloaded = playwright.chromium.executable_path
    return own or (downloaded if Path(downloaded).exists() else None)


def launch(playwright: Playwright, *further: str) -> Browser:
    """A headless browser, started with further arguments; fails with a sentence where there is none."""
    path = _require_path(playwright)
    return playwright.chromium.launch(executable_path=path, args=[*ARGUMENTS, *further])


def launch_lasting(playwright: Playwright, **options: Any) -> BrowserContext:
    """A headless browser with its one profile on the disk, as a visitor's is; the profile goes with it.

    Such a profile alone keeps what Chromium has compiled of a script: 0.9 of 2.2 s of a page.
    ``options`` are those of a Playwright context.
    """
    path = _require_path(playwright)
    return playwright.chromium.launch_persistent_context(
        "", executable_path=path, args=list(ARGUMENTS), **options
    )


def _require_path(playwright: Playwright) -> str:
    path = find(playwright)
    if path is None:
        raise FileNotFoundError("no Chromium here: `sh tests/run` installs one")
    return path


def main() -> int:
    """Start the browser once, and print its path and version."""
    with sync_playwright() as playwright:
        path = find(playwright)
        if path:
            with launch(playwright) as browser:
                print(f"{path}, version {browser.version}")
    return 0 if path else 1


if __name__ == "__main__":
    sys.exit(main())
