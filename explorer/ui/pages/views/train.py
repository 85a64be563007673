"""Train: live training with the chosen op and rules."""

from explorer.ui.pages.mount import mount

mount("training")
