// The dialog of slow motion, which shows one training step stage by stage.

import { element } from "../../elements/dom.js";
import { h, render } from "../../elements/render.js";
import { clampTo } from "../../formula/numbers.js";
import { drawStage, paintMaps } from "./stage.js";
import { createToggleGroup } from "../widgets/toggle-group.js";

/** @import { Picture, Position } from "./view-model.js" */
/**
 * Callbacks of the dialog. ``onSlow``: called with another position, or with null to close the dialog; ``onFirst``:
 * starts a run that is paused at step 0; ``onAgain``: repeats a failed request.
 * @typedef {{onSlow: (position: Position|null) => void, onStep: () => void, onPause: () => void, onFirst: () => void,
 *   onAgain: () => void}} On
 */

const BEAT_MS = 1600; // ms per stage during playback
const ACTIONS = { pause: "Pause the run", first: "Show the first step", again: "Try again", "": "" };
const MOVES = /** @type {Object<string, [number, number]>} */ ({
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
});

/** Create the dialog. @param {HTMLElement} host @param {On} on */
export function createSlowMotion(host, on) {
  const dialog = element("dialog", { class: "slow", "aria-label": "Slow motion" });
  const layers = createToggleGroup("Layer of slow motion", (/** @type {number} */ layer) =>
    go({ layer, unit: null, row: null }),
  );
  const acts = { "": () => undefined, pause: on.onPause, first: on.onFirst, again: on.onAgain };
  let displayed = /** @type {Picture|null} */ (null);
  let timer = 0;
  host.append(dialog);
  dialog.addEventListener("keydown", handleKey);
  dialog.addEventListener("close", () => {
    stop();
    if (displayed) on.onSlow(null);
  });

  /** @param {Partial<Position>} change */
  function go(change) {
    if (!displayed) return;
    // now, because another key may be pressed before the next frame
    displayed = { ...displayed, position: { ...displayed.position, ...change } };
    on.onSlow(displayed.position);
  }

  /** Move by a number of stages. Return false if there is no such stage. @param {number} by */
  function move(by) {
    if (!displayed?.stages.length) return false;
    const { stage } = displayed.position;
    const next = displayed.stages[displayed.stages.findIndex(({ key }) => key === stage) + by];
    if (next) go({ stage: next.key });
    return Boolean(next);
  }

  function play() {
    const [first] = displayed?.stages ?? [];
    if (!first) return;
    if (displayed?.stages.at(-1)?.key === displayed?.position.stage) go({ stage: first.key });
    timer = window.setInterval(() => move(1) || stop(), BEAT_MS);
    if (displayed) draw(displayed);
  }

  function stop() {
    clearInterval(timer);
    timer = 0;
    if (displayed) draw(displayed);
  }

  /** Stop the playback, and move by a number of stages. @param {number} by */
  function stopAndMove(by) {
    stop();
    move(by);
  }

  /** @param {KeyboardEvent} event */
  function handleKey(event) {
    const way = MOVES[event.key];
    if (!way || !displayed || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const onMap = event.target instanceof Element && event.target.matches(".drawing");
    if (event.shiftKey || onMap) step(way);
    else if (way[0]) stopAndMove(way[0]);
    else switchRule(way[1]);
  }

  /** @param {[number, number]} way how far to move across and down */
  function step([across, down]) {
    if (!displayed?.stages.length) return;
    const { position, rows, units } = displayed;
    go({
      unit: clampTo((position.unit ?? 0) + across, 0, units - 1),
      row: clampTo((position.row ?? 0) + down, 0, rows - 1),
    });
  }

  /** Switch to the next (1) or previous (−1) rule, cyclically. @param {number} by */
  function switchRule(by) {
    const count = displayed?.rules.length ?? 1;
    go({ rule: ((displayed?.position.rule ?? 0) + by + count) % count });
  }

  /** @param {Picture} picture */
  function draw(picture) {
    const { stages, rules, action, ends } = picture;
    const { count, chosen } = picture.layers;
    const options = Array.from({ length: count }, (_, value) => ({ value, label: `After w${value + 1}` }));
    layers.show(options, chosen);
    layers.element.hidden = count < 2;
    dialog.toggleAttribute("data-empty", !stages.length);
    const back = stages.find(({ way }) => way === "backward")?.time ?? "coming";
    const drawn = stages.map((stage) =>
      drawStage(stage, { onCell: (row, unit) => go({ row, unit }), onStage: (key) => go({ stage: key }) }),
    );
    const names = rules.map(({ label, colour, chosen: isChosen }, rule) => {
      const state = { "aria-pressed": String(isChosen), "--colour": colour };
      return h("button", { ...state, onclick: () => go({ rule }) }, label);
    });
    const sentences = { class: "said-of-step", "aria-live": "polite" };
    const has = stages.length > 0;
    render(
      dialog,
      h(
        "header",
        {},
        h("h2", {}, picture.title),
        layers.element,
        h("div", { class: "slow-rules flex-wrap", role: "group", "aria-label": "Rule" }, names),
        h("button", { class: "close quiet", "aria-label": "Close", onclick: () => dialog.close() }, "✕"),
      ),
      h(
        "div",
        { class: "refused-step flex-wrap" },
        h("p", { role: "status" }, picture.message),
        action && h("button", { onclick: acts[action] }, ACTIONS[action]),
      ),
      h("div", { class: "graph" }, h("div", { class: "stages" }, drawn, has && drawTurn(back, ends))),
      h(
        "footer",
        {},
        h(
          "div",
          sentences,
          h("p", {}, [picture.words, picture.note].filter(Boolean).join(" ")),
          h("code", {}, picture.numbers),
        ),
        h(
          "div",
          { class: "go flex-wrap" },
          makeButton("Next step", has && picture.canStep, on.onStep),
          makeButton(timer ? "Hold" : "Play", has, () => (timer ? stop() : play())),
          makeButton("←", stages[0]?.time === "past", () => stopAndMove(-1), "Stage before"),
          h("span", { class: "count" }, picture.count),
          makeButton("→", stages.at(-1)?.time === "coming", () => stopAndMove(1), "Next stage"),
        ),
      ),
    );
    paintMaps(
      dialog,
      stages.map(({ drawing }) => drawing),
    );
  }

  return {
    /** @param {Picture|null} picture null closes the dialog */
    show(picture) {
      displayed = picture;
      if (!picture) {
        if (dialog.open) dialog.close();
        return;
      }
      if (!dialog.open) dialog.showModal();
      const isNew = dialog.hasAttribute("data-empty") || !dialog.textContent;
      draw(picture);
      const first = picture.action ? ".refused-step button" : ".go button:last-child";
      if (isNew || !dialog.contains(document.activeElement))
        /** @type {HTMLElement} */ (dialog.querySelector(first)).focus();
    },
    destroy() {
      displayed = null;
      stop();
      dialog.remove();
    },
  };
}

/**
 * Draw the colour scale and the keys between the two passes.
 * @param {string} time when the backward pass is: "past", "now" or "coming" @param {string[]} ends labels of the scale
 */
function drawTurn(time, ends) {
  const texts = ends.map((end) => h("span", {}, end));
  return h(
    "div",
    { class: "turn", "data-time": time },
    ends.length > 0 && h("div", { class: "scale" }, h("canvas"), h("div", {}, texts)),
    h("p", { class: "keys" }, "← → stage, ↑ ↓ rule;", h("br"), "click or ⇧ + arrows: cell"),
  );
}

/**
 * Make a button that keeps its focus while disabled.
 * @param {string} text @param {boolean} available @param {() => void} act
 * @param {string} [name] its accessible name, if not the text
 */
function makeButton(text, available, act, name) {
  const state = { "aria-label": name, "aria-disabled": available ? null : "true" };
  return h("button", { ...state, onclick: () => available && act() }, text);
}
