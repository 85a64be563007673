"""Train: the two-layer net of the documents, with the chosen op and rules, live."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from explorer.figures import loss_spec
from explorer.training import Settings
from explorer.ui import controls, state, trainer
from explorer.ui.chart import chart

choice = state.current()
op, rules = controls.op_and_rules(choice)
with st.sidebar:
    kept, parameters = controls.parameters(choice, op, rules)
    training = controls.training(choice)
    keys = tuple(rule.key for rule in rules)
    state.keep(replace(choice, op=op.key, rules=keys, parameters=kept, **training))
settings = Settings(op=op.key, rules=keys, parameters=parameters, **training)
trainer.reconcile(settings)
armed = trainer.interval_s(trainer.current())


@st.fragment(run_every=armed)
def live() -> None:
    """Everything that moves while the net trains."""
    picture = trainer.current()
    if trainer.interval_s(picture) != armed:
        st.rerun()
    paused = picture is not None and picture.state == "paused"
    with st.container(horizontal=True):
        st.button("Start", on_click=trainer.start, type="primary", icon=":material/play_arrow:")
        if paused:
            st.button("Resume", on_click=trainer.resume)
        else:
            st.button("Pause", on_click=trainer.pause)
        st.button("Step", on_click=trainer.step)
        st.button("Reset", on_click=trainer.reset)
    snapshot = picture.snapshot if picture else None
    step = snapshot.step if snapshot else 0
    st.progress(step / settings.steps)
    loss = snapshot.loss[keys[0]] if snapshot else None
    with st.container(horizontal=True):
        st.metric("Step", f"{step} / {settings.steps}")
        st.metric("Loss", "–" if loss is None else f"{loss:.4g}", help="Of the first rule; all stand below.")
        st.metric("Steps/s", f"{picture.steps_per_second:,.0f}" if picture else "–")
        st.metric("Device", snapshot.device if snapshot else "–")
    said = trainer.sentences(snapshot, rules) if snapshot else []
    st.text("\n".join([trainer.state_words(picture), *said]))
    frame = trainer.loss_frame(snapshot, rules, settings.steps)
    chart(loss_spec(frame), key="loss", words=" ".join(["Loss over steps.", *said]))


live()
