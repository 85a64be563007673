"""The lessons, one module each. ``net`` trains the net that some of them share."""
