"""Train: the training lab, with the chosen op and rules, live."""

from explorer.ui.mount import mount

mount("training")
