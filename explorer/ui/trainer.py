"""The session's run: commands to the engine, and what its picture says in words."""

from __future__ import annotations

import secrets
from dataclasses import replace

import pandas as pd
import streamlit as st

from explorer.catalogue import Rule
from explorer.curves import orders
from explorer.training import ACTIVE, AT_REST, Command, EngineFull, Picture, Settings, Snapshot, shared_engine

UPDATE_S = 0.1
KEEP_S = 20.0  # the engine forgets a paused run that nobody has asked about for about a minute
LOST = ("failed", "stopped", "gone")
OVER = ("finished", "diverged", *LOST)


def reconcile(wanted: Settings) -> None:
    """Let the run follow the settings: one that is being trained starts anew, any other is dropped."""
    st.session_state["wanted"] = wanted
    running = st.session_state.get("run.settings")
    if running is None or running == wanted:
        return
    picture = current()
    if picture and picture.state in ACTIVE:
        _begin()
    else:
        _drop()


def current() -> Picture | None:
    """The picture of this session's run; None when there is none.

    The engine forgets a run some time after its end; its last picture stays with the session.
    """
    identity = st.session_state.get("run")
    if not identity:
        return None
    try:
        picture = shared_engine().snapshot(identity)
    except RuntimeError as refused:
        st.session_state["run.notice"] = _refusal(refused)
        return None
    last: Picture | None = st.session_state.get("run.last")
    if picture.state != "gone" or last is None or last.id != identity:
        st.session_state["run.last"] = picture
        return picture
    if last.state in OVER:
        return last
    return replace(last, state=picture.state, sentence=picture.sentence)


def interval_s(picture: Picture | None) -> float | None:
    """Seconds between two looks at a run: often while it moves, now and then to keep a pause alive."""
    if picture is None or picture.state in OVER:
        return None
    return UPDATE_S if picture.state in ACTIVE else KEEP_S


def start() -> None:
    """Begin, or go on after a pause."""
    picture = current()
    if picture and picture.state in AT_REST:
        _command("resume")
    elif not picture or picture.state in OVER:
        _begin()


def pause() -> None:
    """Pause a run that is being trained or waits."""
    _command("pause")


def resume() -> None:
    """Go on after a pause."""
    _command("resume")


def step() -> None:
    """Pause, and take one step; the first one where there is no run."""
    picture = current()
    if not picture or picture.state in LOST:
        _begin(paused=True)
    elif picture.state in ACTIVE:
        _command("pause")
    elif picture.state in OVER:
        st.session_state["run.notice"] = f"{picture.sentence} Press Start or Reset to step again."
    _command("step")


def reset() -> None:
    """Back to step 0."""
    _command("reset")


def _begin(*, paused: bool = False) -> None:
    wanted: Settings = st.session_state["wanted"]
    try:
        st.session_state["run"] = shared_engine().start(wanted, _visitor(), paused=paused)
        st.session_state["run.settings"] = wanted
    except RuntimeError as refused:
        _drop()
        st.session_state["run.notice"] = _refusal(refused)


def _command(name: Command) -> None:
    identity = st.session_state.get("run")
    if not identity:
        return
    try:
        picture = shared_engine().command(identity, name)
    except RuntimeError as refused:
        st.session_state["run.notice"] = _refusal(refused)
        return
    if picture.state == "gone" and name == "reset":
        _forget()


def _drop() -> None:
    _command("stop")
    _forget()


def _forget() -> None:
    for key in ("run", "run.settings", "run.last"):
        st.session_state.pop(key, None)


def _refusal(refused: RuntimeError) -> str:
    """A full house says so in a sentence; what else goes wrong is a clause."""
    if isinstance(refused, EngineFull):
        return str(refused)
    return f"Training is not available just now: {refused}."


def _visitor() -> str:
    """A name for this session, so that the engine can keep one active run for each."""
    name: str = st.session_state.setdefault("visitor", secrets.token_hex(8))
    return name


def state_words(picture: Picture | None) -> str:
    """The state of the run in one sentence, or why it could not be started."""
    notice: str = st.session_state.pop("run.notice", "")
    return notice or (picture.sentence if picture else "Ready: press Start.")


def loss_frame(snapshot: Snapshot | None, rules: tuple[Rule, ...], steps: int) -> pd.DataFrame:
    """Losses of a snapshot as the table ``figures.loss_spec`` draws."""
    blocks = [pd.DataFrame({"rule": pd.Series(dtype=str), "step": pd.Series(dtype=int), "loss": []})]
    if snapshot:
        blocks = [
            pd.DataFrame({"rule": rule, "step": snapshot.loss_steps[rule], "loss": losses})
            for rule, losses in snapshot.losses.items()
        ]
    frame = pd.concat(blocks, ignore_index=True)
    frame.attrs = {
        "labels": {rule.key: rule.label for rule in rules},
        "orders": orders(rules),
        "steps": steps,
    }
    return frame


def sentences(snapshot: Snapshot, rules: tuple[Rule, ...]) -> list[str]:
    """For each rule, what its training does: the loss, and whether the gradient reaches w1."""
    return [_rule_words(snapshot, rule) for rule in rules if rule.key in snapshot.losses]


def _rule_words(snapshot: Snapshot, rule: Rule) -> str:
    broken = snapshot.diverged[rule.key]
    if broken is not None:
        return f"{rule.label} diverged at step {broken}: a value was no longer finite."
    loss, gradients = snapshot.loss[rule.key], snapshot.gradients[rule.key]
    words = f"{rule.label}: no step yet" if loss is None else f"{rule.label}: loss {loss:.4g}"
    if gradients is None:
        return f"{words}."
    blocked = f"the rule blocks {_percent(gradients.blocked)} of the gradient"
    if loss is None:
        return f"{words}; {blocked}."
    if gradients.w1_moved == 0:
        return f"{words}. w1 has not moved: no gradient reaches it, only w2 learns."
    return f"{words}. w1 has moved by {gradients.w1_moved:.3g}; {blocked}."


def _percent(share: float) -> str:
    """A share in whole percent; 0 % and 100 % only where it is exactly that."""
    whole = round(100 * share)
    return f"{whole if share in (0, 1) else min(max(whole, 1), 99)} %"
