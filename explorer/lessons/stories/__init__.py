"""The lessons, one module each, named by its key. ``net`` trains the net that some of them share."""
