"""The base class of notebook widgets, which share code and leave an image for notebooks without a kernel.

All widgets of a kernel share the JavaScript code in one hidden widget. The browser unpacks it once, and a
notebook that stores the state of its widgets stores it once.
"""

import base64
import gzip
import hashlib
import os
import sys
from functools import cache
from typing import Any, ClassVar
from uuid import uuid4

import anywidget
import traitlets as t
from IPython.display import publish_display_data

from explorer.instrument.assets import read_skeleton, to_script_json
from explorer.instrument.bundle import bundle_modules
from explorer.instrument.document import make_document
from explorer.instrument.drawing import find_plotly
from explorer.instrument.modules import read_module
from explorer.instrument.page import read_style
from explorer.instrument.view import SAVED_SECTIONS, SECTIONS
from explorer.questions.code import LANGUAGES, NOTEBOOK

_ENTRY = "pages/notebook.js"
_PNG = "image/png"
_publish: Any = publish_display_data


@cache
def pack_library() -> tuple[bytes, str]:
    """Return the JavaScript library with plotly.js, compressed with gzip, and a hash of it."""
    library = {
        "modules": bundle_modules(_ENTRY)[_ENTRY],
        "plotly": find_plotly()[1].decode(),
        "css": read_style(in_cell=True),
        "skeleton": read_skeleton("instrument"),
        "document": make_document() | {"link": {"words": []}},
        "sections": SECTIONS,
        "savedSections": {key: SECTIONS[key] for key in SAVED_SECTIONS},
        "languages": LANGUAGES,
        "notebook": NOTEBOOK,
    }
    code = gzip.compress(to_script_json(library).encode(), mtime=0)
    return code, hashlib.sha256(code).hexdigest()[:16]


class Library(anywidget.AnyWidget):
    """A hidden widget that holds the JavaScript code for all widgets of a notebook."""

    _esm = "export default {}"
    code = t.Bytes().tag(sync=True)
    shared: ClassVar["Library | None"] = None

    @classmethod
    def get(cls) -> "Library":
        """Return this kernel's hidden widget; make one if there is none or marimo closed it with its cell."""
        if cls.shared is None or getattr(cls.shared.comm, "_closed", True):
            cls.shared = cls(code=pack_library()[0])
        return cls.shared


class Cell(anywidget.AnyWidget):
    """A notebook widget that leaves an image for notebooks without a kernel and closes with its last view."""

    _esm = read_module("pages/cell.js")
    _hash = t.Unicode().tag(sync=True)
    _library = t.Unicode().tag(sync=True)
    layout = t.Any(None).tag(sync=True)  # a Layout would be another widget, which stays when this one closes

    def __init__(self, **traits: Any) -> None:
        self._display_id = uuid4().hex
        library = Library.get().model_id
        super().__init__(_hash=pack_library()[1], _library=library, _view_count=0, **traits)
        self.on_msg(self._receive)

    def draw_image(self) -> tuple[bytes, str]:
        """Return a PNG image of the widget and its text. The image is b"" without Pillow."""
        raise NotImplementedError

    def answer_question(self, question: str, arguments: dict[str, Any]) -> Any:
        """Answer a request from the browser with data for JSON."""
        raise NotImplementedError(f"the widget cannot answer the question {question!r}")

    def _receive(self, _widget: Any, message: Any, _buffers: Any) -> None:
        """Handle a request from the browser. JupyterLab calls this in another thread while a cell runs."""
        reply, question = {"id": message["id"]}, message["question"]
        if question == "library":
            self.send(reply, [pack_library()[0]])
        else:
            self.send(reply | {"answer": self.answer_question(question, message["arguments"])})

    @t.observe("_view_count")
    def _close_without_views(self, change: Any) -> None:
        if change["old"] and change["new"] == 0:
            self.close()
            del self._repr_mimebundle_  # without it, a closed widget would display nothing

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        if self.comm is None:
            self.open()
        bundle: Any = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle
        return data | self._make_image_data(), metadata

    def _make_image_data(self) -> dict[str, Any]:
        png, text = self.draw_image()
        return {"text/plain": text} | ({_PNG: base64.b64encode(png).decode()} if png else {})

    def _ipython_display_(self, **kwargs: Any) -> None:
        """Display the image in an output before the widget, which hides the image.

        JupyterLab shows no other data of a widget whose kernel has stopped.
        """
        data, metadata = self._repr_mimebundle_(**kwargs)
        if not ("google.colab" in sys.modules or any(name.startswith("VSCODE_") for name in os.environ)):
            image = {name: data.pop(name) for name in (_PNG, "text/plain") if name in data}
            _publish(image, transient={"display_id": self._display_id})
            data["text/plain"] = ""
        _publish(data, metadata=metadata)

    def update_image(self) -> None:
        """Replace the displayed image with one of the current state."""
        _publish(self._make_image_data(), transient={"display_id": self._display_id}, update=True)
