// The interactive chart, with the curves of an op and of its backward rules in panels.

import { saveAs } from "../../elements/dom.js";
import { createEnds } from "../hand/ends.js";
import { handleKey } from "../hand/keys.js";
import { createKnob } from "../probe/knob.js";
import { createProbe } from "../probe/probe.js";
import { followTheme } from "../plotly/theme.js";
import { followGestures } from "../hand/gestures.js";
import { createHand } from "../hand/hand.js";
import { createHandles } from "../hand/handles.js";
import { makeFileName } from "./image.js";
import { createPainter } from "./painter.js";
import { createParts } from "../hand/parts.js";
import { loadPlotly } from "../plotly/plotly.js";
import { EMPTY, getCurrentView, withPicture, withRequest } from "./state.js";

/** @import { Picture } from "../scene/picture.js" */
/** The phase of a change by the user: "settled" once it is finished. @typedef {"moving"|"settled"} Phase */
/**
 * Callbacks and options of a chart. ``plotly``: address of plotly.js, or a promise of Plotly; ``onView``: called with
 * each range of x that the user requests; ``onParameter``: called when a parameter is dragged; ``onProbe``: called with
 * the x of the probe, null if it is hidden; ``isLabelled``: whether the probe is always visible, with labels instead of
 * a legend; ``pencil``: draws rules by hand; ``onFrame``: called with the positions of the panels.
 * @typedef {{plotly: string|Promise<*>, onView: (start: number, stop: number, phase: Phase) => void, onParameter:
 *   (name: string, value: number, phase: Phase) => void, onProbe?: (x: number|null) => void, isLabelled?: () =>
 *   boolean, pencil?: import("../hand/pencil.js").Pencil, onFrame?: (frame: import("../scene/panels.js").Frame) =>
 *   void}} Options
 */

/**
 * Create an interactive chart that fills its host.
 * @param {HTMLElement} host an element of fixed height @param {Options} options
 */
export function createChart(host, options) {
  let state = EMPTY;
  const end = new AbortController();
  const parts = createParts({ onReset: reset, onSave: saveImage });
  const probe = createProbe(parts, {
    onProbe: options.onProbe,
    isLabelled: options.isLabelled,
    onDrawn: (values, frame) => knob.place(values, frame),
  });
  const getDisplayed = () => ({ picture: state.picture, scene: painter.scene() });
  const hand = createHand(parts, probe, {
    displayed: getDisplayed,
    view: () => getCurrentView(state),
    onView: ask,
    onReset: reset,
    pencil: options.pencil,
  });
  const knob = createKnob(parts.layer, { xUnder: hand.xUnder, pin: probe.pin });
  const painter = createPainter(host, parts, {
    ends: createEnds(parts.layer, hand),
    handles: createHandles(parts.layer, options.onParameter),
    onFrame: options.onFrame,
  });
  const resized = new ResizeObserver(() => painter.hasHostSize() || redraw());

  host.classList.add("chart-host");
  host.replaceChildren(parts.area, probe.readout);
  resized.observe(parts.area);
  followTheme(host, { drawnIn: () => painter.scene()?.space.theme, changed: redraw }, end.signal);
  parts.probe.addEventListener("keydown", handleKeydown);
  const endGestures = followGestures(parts.area, hand);
  loadPlotly(options.plotly).then(begin, (error) => parts.plot.replaceChildren(error.message));

  /** @param {*} Plotly */
  function begin(Plotly) {
    if (end.signal.aborted) return;
    painter.start(Plotly);
    redraw();
    host.dispatchEvent(new Event("drawn", { bubbles: true }));
  }

  /** @param {Picture} picture @param {Phase} phase */
  function draw(picture, phase) {
    state = withPicture(state, picture);
    painter.paint(picture, phase);
    parts.reset.hidden = String(picture.range) === String(state.home);
    probe.show(picture, painter.scene());
  }

  function redraw() {
    painter.forget();
    if (state.picture) draw(state.picture, "settled");
  }

  /** @param {[number, number]} view @param {Phase} phase */
  function ask(view, phase) {
    state = withRequest(state, view);
    options.onView(...view, phase);
  }

  function reset() {
    ask(state.home, "settled");
  }

  /** @param {KeyboardEvent} event */
  function handleKeydown(event) {
    const { picture } = state;
    if (picture) handleKey(event, { picture, pinned: probe.pinned(), pin: probe.pin, ask, reset });
  }

  /** @param {"png"|"svg"} format */
  const toImageAddress = (format) => painter.image(state.picture, format);

  /** @param {"png"|"svg"} format */
  async function saveImage(format) {
    if (state.picture) saveAs(await toImageAddress(format), `${makeFileName(state.picture)}.${format}`);
  }

  function destroy() {
    end.abort();
    endGestures();
    resized.disconnect();
    painter.destroy();
    host.replaceChildren();
  }

  return { draw, point: probe.point, pin: probe.pin, reset, resize: redraw, image: toImageAddress, destroy };
}
