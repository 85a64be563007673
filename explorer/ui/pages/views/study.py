"""Study: rules, rates and seeds, each rule scored on held-out data at its own best rate."""

from explorer.ui.pages.mount import mount

mount("study")
