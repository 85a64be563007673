"""Study: rules, rates and seeds, each rule judged at its own best rate."""

from explorer.ui.pages.mount import mount

mount("study")
