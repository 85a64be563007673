"""Titles and descriptions of links, for previews in chats, tabs and bookmarks."""

from html import escape

from explorer.ui.links.choice import Choice
from explorer.ui.links.presets import PRESETS

NAME = "Gradient explorer"


def make_title(choice: Choice) -> str:
    """Return a page title with the op's and the backward rules' labels and the name of the app."""
    op, rules = choice.entries
    return f"{op.label}: {', '.join(rule.label for rule in rules)} · {NAME}"


def describe_purpose(choice: Choice) -> str:
    """Return one or two sentences that describe the page that a link to Explore opens.

    The description is that of an example with the same op, rules and g, if there is one.
    """
    for preset in PRESETS:
        if (preset.choice.op, preset.choice.rules, preset.choice.g) == (choice.op, choice.rules, choice.g):
            return f"{preset.name}. {preset.hint}"
    op, rules = choice.entries
    labels = [rule.label for rule in rules]
    names = " and ".join(filter(None, (", ".join(labels[:-1]), labels[-1])))
    verb = "returns" if len(labels) == 1 else "return"
    return f"The gradient that {names} {verb} for {op.label}, drawn below it."


def make_head_elements(heading: str, description: str) -> str:
    """Return the escaped HTML ``<title>`` and ``<meta>`` elements for a page's link preview."""
    heading, description = escape(heading), escape(description)
    return "\n".join(
        [
            f"<title>{heading}</title>",
            f'<meta name="description" content="{description}">',
            f'<meta property="og:title" content="{heading}">',
            f'<meta property="og:description" content="{description}">',
            '<meta property="og:type" content="website">',
        ]
    )
