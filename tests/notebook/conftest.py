"""A browser for the notebooks that need one."""

from tests.browser.conftest import chromium, playwright

__all__ = ["chromium", "playwright"]
