"""The pages: one list for navigation, routes and admission."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Page:
    """A page by the name of its file in ``views``, its path, title and Material icon."""

    name: str
    path: str
    title: str
    icon: str


# The first is where a visitor arrives.
PAGES = (
    Page("explore", "/", "Explore", "show_chart"),
    Page("train", "/train", "Train", "play_circle"),
    Page("learn", "/learn", "Learn", "school"),
)
