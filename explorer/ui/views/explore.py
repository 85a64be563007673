"""Explore: an op, backward rules, and what they look like."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from explorer.curves import sample
from explorer.description import describe
from explorer.figures import curve_spec
from explorer.ui import controls, sections, state
from explorer.ui.chart import chart

choice = state.current()
op, rules = controls.op_and_rules(choice)
with st.sidebar:
    top = st.container()
    kept, parameters = controls.parameters(choice, op, rules)
    span = controls.span(choice)
    g = controls.upstream(choice)
    keys = tuple(rule.key for rule in rules)
    choice = replace(choice, op=op.key, rules=keys, parameters=kept, range=span, g=g)
    state.keep(choice)
    with top:
        controls.preset(choice)

frame = sample(op, rules, start=span[0], stop=span[1], g=g, **parameters)
words = describe(frame)
chart(curve_spec(frame), key="curves", words=words)
st.text(words)
sections.show(sections.Shown(op, rules, parameters, choice, frame))
