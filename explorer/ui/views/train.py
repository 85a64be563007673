"""Train: the two-layer net with the chosen op and rules, live."""

from explorer.ui.mount import mount

mount("training")
