"""The list of the app's pages, with their paths, titles and icons."""

from dataclasses import dataclass

import streamlit as st


@dataclass(frozen=True)
class Page:
    """A page of the app.

    Attributes:
        name: the name of its file in ``views``.
        path, title, icon: its URL path, title and Material icon.
        purpose: a sentence about what the page shows.
        is_content_first: whether the Tab key reaches its content before the links to other pages.
        needs_held_out_data: whether it needs a task with held-out data.
        can_be_class_target: whether a teacher can lead a class to it.
    """

    name: str
    path: str
    title: str
    icon: str
    purpose: str
    is_content_first: bool = False
    needs_held_out_data: bool = False
    can_be_class_target: bool = False


# The first page is the landing page.
PAGES = (
    Page(
        *("explore", "/", "Explore", "show_chart"),
        "An op and its backward rules as curves that follow the hand.",
        can_be_class_target=True,
    ),
    Page(
        *("train", "/train", "Train", "play_circle"),
        "Backward rules train side by side, judged on data that no net has seen.",
        is_content_first=True,
        can_be_class_target=True,
    ),
    Page(
        *("study", "/study", "Study", "grid_on"),
        "Backward rules over rates and seeds, each judged at its own best rate.",
        is_content_first=True,
        needs_held_out_data=True,
    ),
    Page(*("learn", "/learn", "Learn", "school"), "Backward rules in lessons of one screen each."),
)

# Streamlit's option ``--server.baseUrlPath`` as the start of every path, such as "/some/where", or "".
PREFIX = "".join(f"/{part}" for part in st.get_option("server.baseUrlPath").split("/") if part)


def strip_prefix(path: str) -> str:
    """Return the path of a request without the server's base path."""
    return path.removeprefix(PREFIX)
