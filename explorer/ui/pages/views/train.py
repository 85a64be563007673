"""Train: the training lab, with the chosen op and rules, live."""

from explorer.ui.pages.mount import mount

mount("training")
