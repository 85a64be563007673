"""A tape of the calls in a model's forward passes, and hooks on autograd's nodes."""

from explorer.model.tape.calls import CALLS, CallInput, read_input
from explorer.model.tape.sites import Site
from explorer.model.tape.spans import attach_span, find_nodes_between
from explorer.model.tape.tape import Join, Tape
from explorer.model.tape.values import Call, Value
