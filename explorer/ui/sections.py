"""What stands below the chart on Explore; only the chosen section is computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pandas as pd
import streamlit as st

from explorer.catalogue import OWN, Op, Rule, values
from explorer.curves import Curves, readings, sample_curves
from explorer.formula import name_latex, number_latex
from explorer.snippets import detach_snippet, jax_snippet, notebook, snippet
from explorer.ui import state
from explorer.ui.link import Choice

_MOST_READINGS = 40
_NO_TRICK = (
    "The detach trick multiplies g by a factor that does not depend on g: it cannot express this rule. "
    "Take the Function instead."
)


@dataclass(frozen=True)
class Shown:
    """What the chart shows: the choice and its records."""

    choice: Choice
    op: Op
    rules: tuple[Rule, ...]

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The values used."""
        return self.choice.parameters

    @property
    def curves(self) -> Curves:
        """The curves as torch samples them."""
        start, stop = self.choice.range
        return sample_curves(self.op, self.rules, start=start, stop=stop, g=self.choice.g, **self.parameters)


@st.fragment
def show(choice: Choice) -> None:
    """Draw the section that is open, if it is one of these."""
    if choice.section in _SECTIONS:
        _SECTIONS[choice.section](Shown(choice, *choice.entries))


def _formula(shown: Shown) -> None:
    """Forward and each rule in LaTeX, with the present values, and torch's own derivative beside them."""
    op = shown.op
    with st.container(border=True):
        st.text(f"Forward: {op.label}")
        st.latex(f"y = {op.parsed.latex}")
        _notes(op, values(op, None, shown.parameters))
    for rule in shown.rules:
        with st.container(border=True):
            st.text(rule.label)
            st.latex(rf"\text{{gradient}} = {rule.parsed.latex if rule.parsed else _torchs_own(op)}")
            own = values(op, rule, shown.parameters)
            _notes(rule, {p.name: own[p.name] for p in rule.parameters})
    st.text("What torch computes for the op itself, beside the rules: at even steps and around each kink.")
    choice, settings = shown.choice, tuple(shown.parameters.items())
    table = _readings(choice.op, choice.rules, settings, choice.range, choice.g)
    st.dataframe(table.head(_MOST_READINGS).assign(x=table["x"].astype(str)), hide_index=True)
    if len(table) > _MOST_READINGS:
        st.caption(f"The first {_MOST_READINGS} of {len(table)} rows: narrow the range to see the others.")


@lru_cache(maxsize=64)
def _readings(
    op: str,
    rules: tuple[str, ...],
    parameters: tuple[tuple[str, float], ...],
    span: tuple[float, float],
    g: float,
) -> pd.DataFrame:
    return readings(op, rules, start=span[0], stop=span[1], g=g, parameters=dict(parameters))


def _torchs_own(op: Op) -> str:
    """The chain rule, and what it gives for the op where that can be written out."""
    gradient = op.parsed.short_gradient
    return r"g\,\frac{\mathrm{d}y}{\mathrm{d}x}" + (f" = {gradient.latex}" if gradient else "")


def _notes(entry: Op | Rule, parameters: Mapping[str, float]) -> None:
    if parameters:
        pairs = (f"{name_latex(name)} = {number_latex(value)}" for name, value in parameters.items())
        st.latex(r",\quad ".join(pairs))
    source = f"Source: {entry.source}." if entry.source else ""
    st.text("\n".join(filter(None, [entry.purpose, entry.note, source])))


def _code(shown: Shown) -> None:
    """The op with one of the rules as code to take away."""
    left, right = st.columns(2)
    by_key = {rule.key: rule for rule in sorted(shown.rules, key=lambda rule: rule.formula is None)}
    # An own rule may be labelled like one of the catalogue, and a list tells its options by their text.
    names = {key: key if key.startswith(OWN) else rule.label for key, rule in by_key.items()}
    key = left.selectbox(
        "Code for", list(names), format_func=lambda key: names[key], key=f"{state.VIEW}code.rule"
    )
    language = right.segmented_control(
        "As", list(_LANGUAGES), default=next(iter(_LANGUAGES)), required=True, key=f"{state.VIEW}code.as"
    )
    if not (key and language):
        return
    write, suffix = _LANGUAGES[language]
    source = write(shown, by_key[key])
    if source is None:
        st.text(_NO_TRICK if by_key[key].formula else "torch's own gradient needs no trick: call the op.")
        return
    st.download_button(f"Download {suffix}", source, f"backward_rule{suffix}", on_click="ignore")
    st.code(source, language="json" if suffix == ".ipynb" else "python", height=420)


def _notebook(shown: Shown, rule: Rule) -> str:
    choice, kinks = shown.choice, shown.curves.kinks[rule.key] or ()
    start, stop = choice.range
    return notebook(shown.op, rule, shown.parameters, start=start, stop=stop, g=choice.g, kinks=kinks)


_LANGUAGES: Mapping[str, tuple[Callable[[Shown, Rule], str | None], str]] = {
    "PyTorch": (lambda shown, rule: snippet(shown.op, rule, shown.parameters), ".py"),
    "Detach trick": (lambda shown, rule: detach_snippet(shown.op, rule, shown.parameters), ".py"),
    "JAX": (lambda shown, rule: jax_snippet(shown.op, rule, shown.parameters), ".py"),
    "Notebook": (_notebook, ".ipynb"),
}


def _data(shown: Shown) -> None:
    """The curve as a table, to read and to take along."""
    table = shown.curves.frame
    table.attrs = {}  # what stands there cannot be sent to the browser
    st.download_button("Download CSV", table.to_csv(index=False), "curve.csv", "text/csv", on_click="ignore")
    st.dataframe(table, hide_index=True, height=360)


_SECTIONS: Mapping[str, Callable[[Shown], None]] = {
    "formula": _formula,
    "code": _code,
    "data": _data,
}
