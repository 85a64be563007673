"""Pages run without a browser, and what is drawn on them."""

import json
from pathlib import Path
from urllib.parse import parse_qs

import streamlit as st
from streamlit.testing.v1 import AppTest

MAIN = Path(__file__).parents[2] / "explorer" / "ui" / "pages" / "main.py"


def opened(query: str = "", page: str | None = None) -> AppTest:
    """A visitor who comes by a link. Raises AssertionError if the page failed."""
    test = AppTest.from_file(str(MAIN), default_timeout=30)
    if page:
        test.switch_page(f"views/{page}.py")
    for key, values in parse_qs(query, keep_blank_values=True).items():
        test.query_params[key] = values
    return sound(test.run())


def sound(test: AppTest) -> AppTest:
    """The page, after making sure that its script did not fail."""
    st.config.set_option("client.showErrorDetails", "full")  # only a run reads the file that says "none"
    assert not test.exception, test.exception[0].message or "failed: run this test alone for the reason"
    return test


def mounted(test: AppTest, part: str) -> dict:
    """The data of a part of the instrument."""
    (only,) = [
        component for component in test.get("bidi_component") if component.proto.component_name.endswith(part)
    ]
    return json.loads(only.proto.json)


def chosen(test: AppTest) -> dict:
    return mounted(test, "instrument")["choice"]


def notices_of(test: AppTest) -> list[dict]:
    """The notices on the link: their texts, and addresses that may be meant."""
    names = [component.proto.component_name for component in test.get("bidi_component")]
    return mounted(test, "notices")["notices"] if any(name.endswith("notices") for name in names) else []


def words_of(test: AppTest) -> str:
    return "\n".join(notice["text"] for notice in notices_of(test))
