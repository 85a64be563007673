// The slow motion dialog, which shows one training step stage by stage.

import { updateChildren, createChildren } from "../../elements/children.js";
import { element, setAttribute, setText } from "../../elements/dom.js";
import { clampTo } from "../../formula/numbers.js";
import { setAvailable, createButton } from "../widgets/button.js";
import { createStage, paintScale } from "./stage.js";
import { createSwitch } from "../widgets/toggle-group.js";

/** @import { Picture, Position } from "./view-model.js" */
/**
 * The actions of the slow motion dialog: ``onSlow`` gets another position, or null to close the dialog.
 * @typedef {{onSlow: (position: Position|null) => void, onStep: () => void, onPause: () => void,
 *   onFirst: () => void, onAgain: () => void}} On
 */

const BEAT_MS = 1600; // duration of a stage during playback
const ACTIONS = { pause: "Pause the run", first: "Show the first step", again: "Try again", "": "" };
const MOVES = /** @type {Object<string, [number, number]>} */ ({
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
});

/** @param {HTMLElement} host @param {On} on */
export function createSlowMotion(host, on) {
  const parts = createParts({
    onBack: () => stop(() => move(-1)),
    onNext: () => stop(() => move(1)),
    onPlay: () => (timer ? stop() : play()),
    onAct: () =>
      displayed?.action && { pause: on.onPause, first: on.onFirst, again: on.onAgain }[displayed.action](),
    onStep: on.onStep,
    onClose: () => dialog.close(),
    onLayer: (/** @type {number} */ layer) => go({ layer, unit: null, row: null }),
  });
  const { dialog } = parts;
  const stages = createChildren(parts.graph, () =>
    createStage({ onCell: (row, unit) => go({ row, unit }), onStage: (stage) => go({ stage }) }),
  );
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
    // Update now, because another key may be pressed before the next frame.
    displayed = { ...displayed, position: { ...displayed.position, ...change } };
    on.onSlow(displayed.position);
  }

  /** @param {number} by stages */
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
    setText(parts.play, "Hold");
  }

  /** @param {() => void} [then] */
  function stop(then = () => {}) {
    clearInterval(timer);
    timer = 0;
    setText(parts.play, "Play");
    then();
  }

  /** @param {KeyboardEvent} event */
  function handleKey(event) {
    const way = MOVES[event.key];
    if (!way || !displayed || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const onMap = event.target instanceof Element && event.target.matches(".drawing");
    if (event.shiftKey || onMap) step(way);
    else if (way[0]) stop(() => move(way[0]));
    else turn(way[1]);
  }

  /** Move the selection to a neighbouring unit or row. @param {[number, number]} way */
  function step([across, down]) {
    if (!displayed?.stages.length) return;
    const { position, rows, units } = displayed;
    go({
      unit: clampTo((position.unit ?? 0) + across, 0, units - 1),
      row: clampTo((position.row ?? 0) + down, 0, rows - 1),
    });
  }

  /** Switch to the next or previous backward rule, starting over at the end. @param {number} by */
  function turn(by) {
    const count = displayed?.rules.length ?? 1;
    go({ rule: ((displayed?.position.rule ?? 0) + by + count) % count });
  }

  /** @param {Picture} picture */
  function draw(picture) {
    setText(parts.title, picture.title);
    setText(parts.message, picture.message);
    setText(parts.act, ACTIONS[picture.action]);
    setAttribute(parts.act, "hidden", !picture.action);
    setAttribute(dialog, "data-empty", picture.stages.length ? null : "true");
    setText(parts.words, [picture.words, picture.note].filter(Boolean).join(" "));
    setText(parts.numbers, picture.numbers);
    setText(parts.count, picture.count);
    setAvailable(parts.back, picture.stages[0]?.time === "past");
    setAvailable(parts.next, picture.stages.at(-1)?.time === "coming");
    setAvailable(parts.play, picture.stages.length > 0);
    setAvailable(parts.step, picture.stages.length > 0 && picture.canStep);
    drawRules(picture);
    drawLayers(picture);
    drawStages(picture);
  }

  /** @param {Picture} picture */
  function drawRules({ rules: names }) {
    const make = (/** @type {number} */ rule) => createButton("", () => go({ rule }));
    updateChildren(parts.rules, names, make, (node, { label, colour, chosen }) => {
      setText(node, label);
      setAttribute(node, "style", `--colour: ${colour}`);
      setAttribute(node, "aria-pressed", String(chosen));
    });
  }

  /** @param {Picture} picture */
  function drawLayers({ layers: { count, chosen } }) {
    parts.layers.show(
      Array.from({ length: count }, (_, layer) => ({ value: layer, label: `Layer ${layer + 1}` })),
      chosen,
    );
    setAttribute(parts.layers.element, "hidden", count < 2);
  }

  /** @param {Picture} picture */
  function drawStages({ stages: wanted, ends }) {
    stages.show(wanted);
    const back = wanted.find(({ way }) => way === "backward")?.time ?? "coming";
    setAttribute(parts.turn, "data-time", back);
    setAttribute(parts.turn, "hidden", !wanted.length);
    setAttribute(parts.scale, "hidden", !ends.length);
    parts.ends.forEach((end, index) => setText(end, ends[index] ?? ""));
    if (ends.length) paintScale(parts.colours);
  }

  return {
    /** @param {Picture|null} picture */
    show(picture) {
      displayed = picture;
      if (!picture) {
        if (dialog.open) dialog.close();
        return;
      }
      if (!dialog.open) dialog.showModal();
      const isNew = dialog.hasAttribute("data-empty") || !parts.title.textContent;
      draw(picture);
      if (isNew || !dialog.contains(document.activeElement))
        (picture.action ? parts.act : parts.next).focus();
    },
    destroy() {
      stop();
      displayed = null;
      dialog.remove();
    },
  };
}

/** @param {Object<string, (...given: *[]) => void>} on */
function createParts({ onBack, onNext, onPlay, onAct, onStep, onClose, onLayer }) {
  const title = element("h2", {});
  const rules = element("div", { class: "slow-rules", role: "group", "aria-label": "Rule" });
  const layers = createSwitch("Layer of slow motion", onLayer);
  const close = element("button", { class: "close", "aria-label": "Close", onclick: onClose }, "✕");
  const message = element("p", { role: "status" });
  const act = createButton("", onAct);
  const ends = ["", "", ""].map(() => element("span", {}));
  const colours = element("canvas", {});
  const scale = element("div", { class: "scale" }, colours, element("div", {}, ...ends));
  const keys = element(
    "p",
    { class: "keys" },
    "← → stage, ↑ ↓ rule;",
    element("br"),
    "click or ⇧ + arrows: cell",
  );
  const turn = element("div", { class: "turn" }, scale, keys);
  const graph = element("div", { class: "stages" }, turn);
  const words = element("p", {});
  const numbers = element("code", {});
  const sentences = element("div", { class: "said-of-step", "aria-live": "polite" }, words, numbers);
  const [back, next] = [createArrow("←", "Stage before", onBack), createArrow("→", "Next stage", onNext)];
  const [play, step] = [createButton("Play", onPlay), createButton("Next step", onStep)];
  const count = element("span", { class: "count" });
  const foot = element(
    "footer",
    {},
    sentences,
    element("div", { class: "go" }, step, play, back, count, next),
  );
  const head = element("header", {}, title, layers.element, rules, close);
  const refusal = element("div", { class: "refused-step" }, message, act);
  const viewport = element("div", { class: "graph" }, graph);
  const dialog = element(
    "dialog",
    { class: "slow", "aria-label": "Slow motion" },
    head,
    refusal,
    viewport,
    foot,
  );
  return {
    ...{ dialog, title, rules, layers, message, act, graph, turn, scale, colours, ends },
    ...{ words, numbers, back, next, play, step, count },
  };
}

/** @param {string} sign @param {string} name @param {() => void} act */
function createArrow(sign, name, act) {
  const node = createButton(sign, act);
  setAttribute(node, "aria-label", name);
  return node;
}
