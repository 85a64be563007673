"""The pages: one list for navigation, routes and admission."""

from dataclasses import dataclass

import streamlit as st


@dataclass(frozen=True)
class Page:
    """A page by the name of its file in ``views``, its path, title, Material icon and purpose in a sentence.

    What it holds comes before the links to the other pages for the keyboard where it ``leads``. What it
    ``judges`` must be learnt on a task that holds data out. A class may be led to one that is ``followed``.
    """

    name: str
    path: str
    title: str
    icon: str
    purpose: str
    leads: bool = False
    judges: bool = False
    followed: bool = False


# The first is where a visitor arrives.
PAGES = (
    Page(
        *("explore", "/", "Explore", "show_chart"),
        "An op and its backward rules as curves that follow the hand.",
        followed=True,
    ),
    Page(
        *("train", "/train", "Train", "play_circle"),
        "Backward rules train side by side, judged on data that no net has seen.",
        leads=True,
        followed=True,
    ),
    Page(
        *("study", "/study", "Study", "grid_on"),
        "Backward rules over rates and seeds, each judged at its own best rate.",
        leads=True,
        judges=True,
    ),
    Page(*("learn", "/learn", "Learn", "school"), "Backward rules in lessons of one screen each."),
)

# The prefix of every path of this server, as ``--server.baseUrlPath`` has it: "" or "/some/where".
PREFIX = "".join(f"/{part}" for part in st.get_option("server.baseUrlPath").split("/") if part)


def page_path(path: str) -> str:
    """The path of a request as ``Page`` has it."""
    return path.removeprefix(PREFIX)
