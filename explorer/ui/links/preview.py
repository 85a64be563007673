"""A link in words, as a chat that shows a preview of it, a tab and a list of bookmarks have it."""

from html import escape

from explorer.ui.links.choice import Choice
from explorer.ui.links.presets import PRESETS

NAME = "Gradient explorer"


def title(choice: Choice) -> str:
    """The op and the rules of a choice, and whose they are."""
    op, rules = choice.entries
    return f"{op.label}: {', '.join(rule.label for rule in rules)} · {NAME}"


def purpose(choice: Choice) -> str:
    """The use of a link to Explore: what its example says, else that its rules are drawn beside the op."""
    for preset in PRESETS:
        if (preset.choice.op, preset.choice.rules, preset.choice.g) == (choice.op, choice.rules, choice.g):
            return f"{preset.name}. {preset.hint}"
    op, rules = choice.entries
    labels = [rule.label for rule in rules]
    named = " and ".join(filter(None, (", ".join(labels[:-1]), labels[-1])))
    verb = "returns" if len(labels) == 1 else "return"
    return f"The gradient that {named} {verb} for {op.label}, drawn below it."


def preview(heading: str, description: str) -> str:
    """Elements of a head; what a user wrote is text in them."""
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
