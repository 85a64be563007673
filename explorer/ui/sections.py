"""What stands below the chart on Explore; only the chosen section is computed."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import pandas as pd
import streamlit as st

from explorer.catalogue import (
    AT_BOUND,
    ORIGINS,
    OWN,
    Op,
    Rule,
    contribution,
    gradient_beside,
    learnable,
    values,
)
from explorer.curves import part_key, readings, sample_curves
from explorer.formula import name_latex, number_latex
from explorer.snippets import detach_snippet, jax_snippet, notebook, snippet
from explorer.ui import state
from explorer.ui.choice import Choice

Rules = tuple[Rule, ...]

_MOST_READINGS = 40
_NO_TRICK = (
    "The detach trick multiplies g by a factor that does not depend on g: it cannot express this rule. "
    "Take the Function instead."
)


@st.fragment
def show(choice: Choice) -> None:
    """Draw the section that is open, if it is one of these."""
    if choice.section in _SECTIONS:
        _SECTIONS[choice.section](choice, *choice.entries)


def _formula(choice: Choice, op: Op, rules: Rules) -> None:
    """Forward and each rule in LaTeX, with the present values, and torch's own derivative beside them."""
    with st.container(border=True):
        st.text(f"Forward: {op.label}")
        st.latex(f"y = {op.parsed.latex}")
        _notes(op, values(op, None, choice.parameters))
    for rule in rules:
        with st.container(border=True):
            st.text(rule.label)
            st.latex(
                rf"\text{{gradient}} = {rule.parsed.latex if rule.parsed else _torchs_own(op, choice.learns)}"
            )
            _learned(op, rule, _learns(choice, op, rule))
            own = values(op, rule, choice.parameters)
            _notes(rule, {p.name: own[p.name] for p in rule.parameters})
    st.text("What torch computes for the op itself, beside the rules: at even steps and around each kink.")
    table = _readings(choice.op, choice.rules, tuple(choice.sampling.items()))
    st.dataframe(table.head(_MOST_READINGS).assign(x=table["x"].astype(str)), hide_index=True)
    if len(table) > _MOST_READINGS:
        st.caption(f"The first {_MOST_READINGS} of {len(table)} rows: narrow the range to see the others.")


@lru_cache(maxsize=64)
def _readings(op: str, rules: tuple[str, ...], sampling: tuple[tuple[str, Any], ...]) -> pd.DataFrame:
    return readings(op, rules, **dict(sampling))


def _torchs_own(op: Op, learns: str) -> str:
    """The chain rule, and what it gives for the op where that can be written out."""
    tensors = (learns,) if gradient_beside(op, learns) else ()
    gradient = op.parsed.gradient_with(tensors, finite=True)
    return r"g\,\frac{\mathrm{d}y}{\mathrm{d}x}" + (f" = {gradient.latex}" if gradient else "")


def _learned(op: Op, rule: Rule, names: Sequence[str]) -> None:
    """What parameters learn by a rule: a sum over all elements that share a value, N of them."""
    notes = {learned.name: [AT_BOUND.get(learned.at_bound, ""), learned.note] for learned in rule.learned}
    for name in names:
        found = contribution(op, rule, name, tuple(names))
        scale = rf"{found.scale.latex}\," if found.scale else ""
        left, part = rf"\text{{gradient of }}{name_latex(name)}", found.shown.latex
        st.latex(rf"{left} = {scale}\sum\nolimits_N \left({part}\right)")
        st.text("\n".join(filter(None, notes.get(name, [f"{name}: {ORIGINS[found.origin]}."]))))


def _notes(entry: Op | Rule, parameters: Mapping[str, float]) -> None:
    if parameters:
        pairs = (f"{name_latex(name)} = {number_latex(value)}" for name, value in parameters.items())
        st.latex(r",\quad ".join(pairs))
    source = f"Source: {entry.source}." if entry.source else ""
    st.text("\n".join(filter(None, [entry.purpose, entry.note, source])))


def _code(choice: Choice, op: Op, rules: Rules) -> None:
    """The op with one of the rules as code to take away."""
    left, right = st.columns(2)
    by_key = {rule.key: rule for rule in sorted(rules, key=lambda rule: rule.formula is None)}
    # An own rule may be labelled like one of the catalogue, and a list tells its options by their text.
    names = {key: key if key.startswith(OWN) else rule.label for key, rule in by_key.items()}
    key = left.selectbox("Code for", list(names), format_func=names.__getitem__, key=f"{state.VIEW}code.rule")
    language = right.segmented_control(
        "As", list(_WRITERS), default=next(iter(_WRITERS)), required=True, key=f"{state.VIEW}code.as"
    )
    if not (key and language):
        return
    if choice.learns and choice.learns not in learnable(op, by_key[key]):
        st.text(f"{choice.learns} cannot learn by this rule: in its code it is a number.")
    suffix = ".ipynb" if language == "Notebook" else ".py"
    source = _WRITERS[language](choice, op, by_key[key], _learns(choice, op, by_key[key]))
    if source is None:
        st.text(_NO_TRICK if by_key[key].formula else "torch's own gradient needs no trick: call the op.")
        return
    st.download_button(f"Download {suffix}", source, f"backward_rule{suffix}", on_click="ignore")
    st.code(source, language="json" if suffix == ".ipynb" else "python", wrap_lines=True)


def _learns(choice: Choice, op: Op, rule: Rule) -> list[str]:
    """The parameters that are tensors in a rule's code: those it says how to learn, and the chosen one."""
    own = [learned.name for learned in rule.learned]
    return [*own, *(name for name in learnable(op, rule) if name == choice.learns and name not in own)]


def _notebook(choice: Choice, op: Op, rule: Rule, learns: Sequence[str]) -> str:
    found = sample_curves(op, choice.rules, **choice.sampling).kinks
    kinks = sorted({*(found[rule.key] or ()), *(found.get(part_key(rule.key)) or ())})
    start, stop = choice.range
    return notebook(op, rule, choice.parameters, learns, start=start, stop=stop, g=choice.g, kinks=kinks)


_WRITERS: Mapping[str, Callable[[Choice, Op, Rule, Sequence[str]], str | None]] = {
    "PyTorch": lambda choice, op, rule, learns: snippet(op, rule, choice.parameters, learns),
    "Detach trick": lambda choice, op, rule, learns: detach_snippet(op, rule, choice.parameters, learns),
    "JAX": lambda choice, op, rule, learns: jax_snippet(op, rule, choice.parameters, learns),
    "Notebook": _notebook,
}


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
