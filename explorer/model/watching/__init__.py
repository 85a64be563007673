"""A watched forward pass of anybody's model: its calls of ops, where they stand, what leaves the graph."""

from explorer.model.watching.calls import CALLS, Call, node_names, op_key_of, parameters_of
from explorer.model.watching.cuts import Cut, Followed, Masked, Tracker, probing
from explorer.model.watching.mode import Asked, Handler, Run, handlers
from explorer.model.watching.nodes import Unseen, elementwise_nodes, explain, explained, reached, unseen_in
from explorer.model.watching.patches import enclosing, watched
from explorer.model.watching.places import WATCHED, Site, compiled, names_of, place_of, site_of

__all__ = [
    "CALLS", "WATCHED", "Asked", "Call", "Cut", "Followed", "Handler", "Masked", "Run", "Site", "Tracker",
    "Unseen", "compiled", "elementwise_nodes", "enclosing", "explain", "explained", "handlers", "names_of",
    "node_names", "op_key_of", "parameters_of", "place_of", "probing", "reached", "site_of", "unseen_in",
    "watched",
]  # fmt: skip
