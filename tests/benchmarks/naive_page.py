"""The page a first attempt would be: the same curves through ``st.plotly_chart``, Streamlit as it comes."""

from __future__ import annotations

import streamlit as st

import explorer

st.set_page_config(layout="wide")
ops = list(explorer.OPS)
op = st.selectbox("Op", ops, ops.index("relu"), format_func=lambda key: explorer.OPS[key].label)
rules = st.multiselect(
    "Backward rules",
    list(explorer.RULES),
    default=["default"],
    format_func=lambda key: explorer.RULES[key].label,
)
frame = explorer.sample(op, rules or ["default"])
st.plotly_chart(explorer.figure(frame))
