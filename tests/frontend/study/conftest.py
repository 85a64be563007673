"""The document of the browser, for the modules of the page of studies."""

from tests.frontend.train.conftest import document

__all__ = ["document"]
