"""What stands below the chart on Explore; only the chosen section is computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd
import streamlit as st

from explorer.catalogue import Op, Rule, values
from explorer.formula import name_latex, number_latex


def show(op: Op, rules: tuple[Rule, ...], parameters: Mapping[str, float], frame: pd.DataFrame) -> None:
    """Draw the section that is chosen."""
    names = list(_SECTIONS)
    chosen = st.segmented_control(
        "Section", names, default=names[0], key="section", label_visibility="collapsed"
    )
    if chosen:
        _SECTIONS[chosen](op, rules, parameters, frame)


def _formula(op: Op, rules: tuple[Rule, ...], parameters: Mapping[str, float], _frame: pd.DataFrame) -> None:
    """Forward and each rule in LaTeX, with the present values of the parameters."""
    with st.container(border=True):
        st.text(f"Forward: {op.label}")
        st.latex(f"y = {op.parsed.latex}")
        _note(op.purpose, "", values(op, None, parameters))
    for rule in rules:
        with st.container(border=True):
            st.text(rule.label)
            right = (
                rule.parsed.latex if rule.parsed else r"g\,\frac{\mathrm{d}y}{\mathrm{d}x}\ \text{(torch)}"
            )
            st.latex(rf"\text{{gradient}} = {right}")
            own = values(op, rule, parameters)
            _note(rule.purpose, rule.source, {p.name: own[p.name] for p in rule.parameters})


def _note(purpose: str, source: str, parameters: Mapping[str, float]) -> None:
    if parameters:
        st.latex(
            r",\quad ".join(
                f"{name_latex(name)} = {number_latex(value)}" for name, value in parameters.items()
            )
        )
    st.text(f"{purpose} Source: {source}." if source else purpose)


def _data(op: Op, _rules: tuple[Rule, ...], _parameters: Mapping[str, float], frame: pd.DataFrame) -> None:
    """The curve as a table, to read and to take along."""
    st.dataframe(frame, hide_index=True, height=320)
    st.download_button("Download CSV", frame.to_csv(index=False), "curve.csv", "text/csv", on_click="ignore")


_SECTIONS: Mapping[str, Callable[[Op, tuple[Rule, ...], Mapping[str, float], pd.DataFrame], None]] = {
    "Formula": _formula,
    "Data": _data,
}
