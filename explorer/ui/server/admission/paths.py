"""The pages: one list for navigation, routes and admission."""

from dataclasses import dataclass

import streamlit as st


@dataclass(frozen=True)
class Page:
    """A page by the name of its file in ``views``, its path, title and Material icon.

    What it holds comes before the links to the other pages for the keyboard where it ``leads``. What it
    ``judges`` must be learnt on a task that holds data out. A class may be led to one that is ``followed``.
    """

    name: str
    path: str
    title: str
    icon: str
    leads: bool = False
    judges: bool = False
    followed: bool = False


# The first is where a visitor arrives.
PAGES = (
    Page("explore", "/", "Explore", "show_chart", followed=True),
    Page("train", "/train", "Train", "play_circle", leads=True, followed=True),
    Page("study", "/study", "Study", "grid_on", leads=True, judges=True),
    Page("learn", "/learn", "Learn", "school"),
)

# The prefix of every path of this server, as ``--server.baseUrlPath`` has it: "" or "/some/where".
PREFIX = "".join(f"/{part}" for part in st.get_option("server.baseUrlPath").split("/") if part)


def page_path(path: str) -> str:
    """The path of a request as ``Page`` has it."""
    return path.removeprefix(PREFIX)
