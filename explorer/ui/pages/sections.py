"""The sections below the chart on Explore; only the chosen one is computed."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import pandas as pd
import streamlit as st

from explorer.catalogue import OWN, Op, Rule, find_rule, learnable, values
from explorer.curves import readings, sample_curves
from explorer.instrument.limits import MOST_READINGS
from explorer.instrument.view import DRAWN_WORDS
from explorer.sampled import part_key
from explorer.ui.links.choice import Choice
from explorer.ui.pages import state
from explorer.ui.sections import formulas
from explorer.ui.sections.code import LANGUAGES, NOTEBOOK, learned_with, refusal, written

Rules = tuple[Rule, ...]


@st.fragment
def show(choice: Choice) -> None:
    """Draw the section that is open, if it is one of these."""
    if choice.section in _SECTIONS:
        _SECTIONS[choice.section](choice, *choice.entries)


def _formula(choice: Choice, op: Op, rules: Rules) -> None:
    """Forward and each rule in LaTeX, with the present values, and torch's own derivative beside them."""
    with st.container(border=True):
        st.text(f"Forward: {op.label}")
        st.latex(formulas.forward_latex(op))
        _notes(op, values(op, None, choice.parameters))
    for rule in rules:
        with st.container(border=True):
            st.text(rule.label)
            st.latex(formulas.gradient_latex(op, find_rule(rule.key), choice.learns))
            for latex, words in formulas.learned(op, rule, learned_with(op, rule, choice.learns)):
                st.latex(latex)
                st.text(words)
            own = values(op, rule, choice.parameters)
            _notes(rule, {p.shown: own[p.name] for p in rule.parameters})
    means = f"{DRAWN_WORDS['readings']} " if any(each.draws for each in (op, *rules)) else ""
    st.text(f"{means}{formulas.LEAD}")
    table = _readings(choice.op, choice.rules, tuple(choice.sampling.items()))
    st.dataframe(table.head(MOST_READINGS).assign(x=table["x"].astype(str)), hide_index=True)
    if len(table) > MOST_READINGS:
        st.caption(f"The first {MOST_READINGS} of {len(table)} rows: narrow the range to see the others.")


@lru_cache(maxsize=64)
def _readings(op: str, rules: tuple[str, ...], sampling: tuple[tuple[str, Any], ...]) -> pd.DataFrame:
    return readings(op, rules, **dict(sampling))


def _notes(entry: Op | Rule, parameters: Mapping[str, float]) -> None:
    if parameters:
        st.latex(formulas.values_latex(parameters))
    st.text(formulas.about(entry))


def _code(choice: Choice, op: Op, rules: Rules) -> None:
    left, right = st.columns(2)
    by_key = {rule.key: rule for rule in sorted(rules, key=lambda rule: rule.formula is None)}
    # An own rule may be labelled like one of the catalogue, and a list tells its options by their text.
    names = {key: key if key.startswith(OWN) else rule.label for key, rule in by_key.items()}
    key = left.selectbox("Code for", list(names), format_func=names.__getitem__, key=f"{state.VIEW}code.rule")
    language = right.segmented_control(
        "As", list(LANGUAGES), default=LANGUAGES[0], required=True, key=f"{state.VIEW}code.as"
    )
    if not (key and language):
        return
    if choice.learns and choice.learns not in learnable(op, by_key[key]):
        st.text(f"{choice.learns} cannot learn by this rule: in its code it is a number.")
    suffix = ".ipynb" if language == NOTEBOOK else ".py"
    rule = by_key[key]
    learns = learned_with(op, rule, choice.learns)
    source = written(language, op, rule, choice.parameters, learns, lambda: _drawing(choice, rule))
    if source is None:
        st.text(refusal(language, op, rule))
        return
    st.download_button(f"Download {suffix}", source, f"backward_rule{suffix}", on_click="ignore")
    st.code(source, language="json" if suffix == ".ipynb" else "python", wrap_lines=True)


def _drawing(choice: Choice, rule: Rule) -> dict[str, Any]:
    kinks_of = sample_curves(choice.op, choice.rules, **choice.sampling).kinks
    kinks = sorted({*(kinks_of[rule.key] or ()), *(kinks_of.get(part_key(rule.key)) or ())})
    start, stop = choice.range
    return {"start": start, "stop": stop, "g": choice.g, "kinks": kinks, "f": choice.f}


def _data(choice: Choice, op: Op, rules: Rules) -> None:
    """The curve as a table, to read and to take along."""
    table = sample_curves(op, rules, **choice.sampling).frame
    table.attrs = {}  # what stands there cannot be sent to the browser
    st.download_button("Download CSV", table.to_csv(index=False), "curve.csv", "text/csv", on_click="ignore")
    st.dataframe(table, hide_index=True, height=360)


_SECTIONS: Mapping[str, Callable[[Choice, Op, Rules], None]] = {
    "formula": _formula,
    "code": _code,
    "data": _data,
}
