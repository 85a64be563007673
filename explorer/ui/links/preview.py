"""Descriptions of a link as text, for previews in chats, tabs and bookmarks."""

from html import escape

from explorer.ui.links.choice import Choice
from explorer.ui.links.presets import PRESETS

NAME = "Gradient explorer"


def make_title(choice: Choice) -> str:
    """Return the title for a choice: the labels of its op and rules and the name of the app."""
    op, rules = choice.entries
    return f"{op.label}: {', '.join(rule.label for rule in rules)} · {NAME}"


def describe_purpose(choice: Choice) -> str:
    """Describe what a link to Explore shows: an example's hint, or a sentence on rules and op."""
    for preset in PRESETS:
        if (preset.choice.op, preset.choice.rules, preset.choice.g) == (choice.op, choice.rules, choice.g):
            return f"{preset.name}. {preset.hint}"
    op, rules = choice.entries
    labels = [rule.label for rule in rules]
    names = " and ".join(filter(None, (", ".join(labels[:-1]), labels[-1])))
    verb = "returns" if len(labels) == 1 else "return"
    return f"The gradient that {names} {verb} for {op.label}, drawn below it."


def make_head_elements(heading: str, description: str) -> str:
    """Return the title and description elements of a page's head. Text from users is escaped."""
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
