"""What stands below the chart on Explore; only the chosen section is computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import pandas as pd
import streamlit as st

from explorer.catalogue import OWN, Op, Rule, values
from explorer.curves import readings
from explorer.formula import name_latex, number_latex
from explorer.reading import MAX_CHARACTERS, Reading, ReadingError, read_sources
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
    """What the chart shows: the op, the rules, the values used, and the table."""

    op: Op
    rules: tuple[Rule, ...]
    parameters: Mapping[str, Any]
    choice: Choice
    frame: pd.DataFrame


def show(shown: Shown) -> None:
    """Draw the section that is chosen."""
    names = list(_SECTIONS)
    chosen = st.segmented_control(
        "Section",
        names,
        default=names[0],
        required=True,
        key=f"{state.VIEW}section",
        label_visibility="collapsed",
        persist_state="session",
    )
    _SECTIONS[chosen or names[0]](shown)


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
            right = rule.parsed.latex if rule.parsed else r"g\,\frac{\mathrm{d}y}{\mathrm{d}x}"
            st.latex(rf"\text{{gradient}} = {right}")
            own = values(op, rule, shown.parameters)
            _notes(rule, {p.name: own[p.name] for p in rule.parameters})
    st.text("What torch computes for the op itself, beside the rules: at even steps and around each kink.")
    span, g = shown.choice.range, shown.choice.g
    table = readings(op, shown.rules, start=span[0], stop=span[1], g=g, parameters=shown.parameters)
    st.dataframe(table.head(_MOST_READINGS).assign(x=table["x"].astype(str)), hide_index=True)
    if len(table) > _MOST_READINGS:
        st.caption(f"The first {_MOST_READINGS} of {len(table)} rows: narrow the range to see the others.")


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
    choice, kinks = shown.choice, shown.frame.attrs["kinks"][rule.key]
    start, stop = choice.range
    return notebook(shown.op, rule, shown.parameters, start=start, stop=stop, g=choice.g, kinks=kinks)


_LANGUAGES: Mapping[str, tuple[Callable[[Shown, Rule], str | None], str]] = {
    "PyTorch": (lambda shown, rule: snippet(shown.op, rule, shown.parameters), ".py"),
    "Detach trick": (lambda shown, rule: detach_snippet(shown.op, rule, shown.parameters), ".py"),
    "JAX": (lambda shown, rule: jax_snippet(shown.op, rule, shown.parameters), ".py"),
    "Notebook": (_notebook, ".ipynb"),
}


def _paste(_shown: Shown) -> None:
    """The source of a published Function, read into formulas and never executed."""
    text = st.text_area(
        "Paste a torch.autograd.Function",
        key=f"{state.VIEW}paste",
        persist_state="session",
        height=260,
        max_chars=MAX_CHARACTERS,
        placeholder="class RoundGradient(torch.autograd.Function): …",
        help="It is read, not run: what cannot be drawn is named with its line.",
    )
    if not (text or "").strip():
        return
    found = _read(text)
    if isinstance(found, str):
        st.text(found)
        return
    for place, reading in enumerate(found):
        with st.container(border=True):
            _found(place, reading)


@lru_cache(maxsize=64)
def _read(text: str) -> list[Reading] | str:
    try:
        return read_sources(text)
    except ReadingError as error:
        return error.message


def _found(place: int, reading: Reading) -> None:
    st.text(f"{reading.name}, line {reading.line}")
    if reading.problem:
        st.text(reading.problem.message)
        return
    st.code(f"y = {_bare(reading.op)}\ngradient = {_bare(reading.rule)}", language=None)
    key, keys = f"{state.VIEW}paste.{place}", (reading.op, reading.rule)
    st.button("Show its curve", key=key, on_click=_show_reading, args=keys)


def _bare(key: str) -> str:
    return key.partition(": ")[2] or "torch's own"


def _show_reading(op: str, rule: str) -> None:
    choice = state.current()
    state.load(replace(choice, op=op, rules=tuple(dict.fromkeys(["default", rule])), parameters={}))


def _data(shown: Shown) -> None:
    """The curve as a table, to read and to take along."""
    st.download_button(
        "Download CSV", shown.frame.to_csv(index=False), "curve.csv", "text/csv", on_click="ignore"
    )
    st.dataframe(shown.frame, hide_index=True, height=360)


_SECTIONS: Mapping[str, Callable[[Shown], None]] = {
    "Formula": _formula,
    "Code": _code,
    "Paste code": _paste,
    "Data": _data,
}
