// The chart: curves in two panels that follow the hand.

import { alike, circleShapes, differ, hasJumps, partsOf, predecessor, sameAxes, sceneOf } from "./scene.js";
import { createEnds } from "./ends.js";
import { press } from "./keys.js";
import { createProbe } from "./probe.js";
import { followTheme } from "./theme.js";
import { setAttribute } from "../elements/dom.js";
import { followGestures } from "./gestures.js";
import { glide } from "./glide.js";
import { createHandles, gripsOf } from "./handles.js";
import { captionOf, imageOf, nameOf, save } from "./image.js";
import { movePaths } from "./paths.js";
import { drawPlot, exchangeValues, layoutOf } from "./plot.js";
import { loadPlotly } from "./plotly.js";
import { pointedX } from "./probe-marks.js";
import { tracesOf } from "./traces.js";

/**
 * What is drawn. ``entry`` of an op or rule is as in the catalogue's document; ``slot`` its place among the
 * colours, ``neutral`` the colour of the op; ``parameters`` the values that differ from their default, by
 * control name; ``words`` the text for those who cannot see the chart.
 * @typedef {{curves: import("./traces.js").Curves, op: import("../formula/entry.js").Op, rules: Listed[],
 *   neutral: string, parameters: Object<string, number>, g: number, range: [number, number],
 *   room?: [number, number], words: string, confirmed: boolean}} Picture ``room`` is what the gradients' axis
 *   always holds, at least 0
 * @typedef {{key: string, label: string, colour: string, slot: number, hidden: boolean,
 *   entry: import("../formula/entry.js").Rule}} Listed a rule
 */
/** @typedef {import("./scene.js").Scene} Scene */
/** @typedef {"moving"|"settled"} Phase */
/**
 * @typedef {{plotly: string, onView: (start: number, stop: number, phase: Phase) => void,
 *   onParameter: (name: string, value: number, phase: Phase) => void,
 *   onProbe: (x: number|null) => void, onFrame?: (frame: import("./plot.js").Frame) => void}} Options
 *   ``plotly`` is the address of plotly.js; ``onFrame`` is told where the panels lie
 */

/**
 * A chart that fills its host, whose height is fixed by the page.
 * @param {HTMLElement} host
 * @param {Options} options
 */
export function createChart(host, options) {
  const end = new AbortController();
  const parts = partsOf({ onReset: reset, onSave: saveImage });
  const probe = createProbe(parts, options.onProbe);
  const ends = createEnds(parts.layer, { view: viewed, share: shareOf, onView: ask });
  const handles = createHandles(parts.layer, options.onParameter);
  let Plotly = /** @type {*} */ (null);
  let picture = /** @type {Picture|null} */ (null);
  let scene = /** @type {Scene|null} */ (null);
  let drawn = /** @type {Scene|null} */ (null); // what Plotly has drawn, unless paths were set since
  let asked = /** @type {[number, number]|null} */ (null); // the view that the hand has asked for
  let home = /** @type {[number, number]} */ ([-3, 3]);
  let endGlide = () => {};

  host.classList.add("chart-host");
  host.replaceChildren(parts.place, probe.readout);
  const resized = new ResizeObserver(redraw);
  resized.observe(parts.place);
  followTheme(host, redraw, end.signal);
  parts.probe.addEventListener("keydown", pressed);
  const endGestures = followGestures(parts.place, {
    view: viewed,
    share: shareOf,
    onView: ask,
    onReset: reset,
    onPoint: (px) => probe.point(px === null ? null : xUnder(px)),
    onPin: (px) => {
      parts.probe.focus({ preventScroll: true });
      const x = xUnder(px);
      probe.pin(x === probe.pinned() ? null : x);
    },
  });
  loadPlotly(options.plotly).then(
    (loaded) => {
      if (end.signal.aborted) return;
      Plotly = loaded;
      redraw();
      host.dispatchEvent(new Event("drawn", { bubbles: true }));
    },
    (error) => parts.plot.replaceChildren(error.message),
  );

  function viewed() {
    return asked ?? picture?.range ?? home;
  }

  /** @param {number} px of the window */
  function shareOf(px) {
    return scene ? (local(px) - scene.frame.left) / scene.frame.inner : 0.5;
  }

  /** @param {number} px of the window */
  function local(px) {
    return px - parts.place.getBoundingClientRect().left;
  }

  /** @param {number} px of the window */
  function xUnder(px) {
    return scene && picture ? pointedX(picture.curves, scene.frame, local(px)) : null;
  }

  function redraw() {
    scene = null;
    drawn = null;
    if (picture) draw(picture, "settled");
  }

  /** @param {Picture} next @param {Phase} phase */
  function draw(next, phase) {
    if (String(next.range) !== String(asked)) {
      home = next.range;
      asked = null;
    }
    picture = next;
    setAttribute(parts.plot, "aria-label", next.words || "Chart");
    if (Plotly && (scene || parts.place.clientWidth))
      drawScene(next, sceneOf(next, host, parts.place, scene, phase === "moving"), phase);
    probe.show(next, scene);
  }

  /** @param {Picture} shown @param {Scene} next @param {Phase} phase */
  function drawScene(shown, next, phase) {
    const before = scene;
    if (phase === "settled" && drawn && alike(drawn, next)) {
      exchangeValues(parts.plot, tracesOf(next.lines, next.absent));
      scene = { ...next, frame: drawn.frame, pixels: drawn.pixels };
      return;
    }
    scene = next;
    endGlide();
    const quick = phase === "moving" && before && sameAxes(before, next);
    if (quick) movePaths(parts.plot, next.lines, next.pixels);
    else {
      const layout = layoutOf(next.frame, next.theme, hasJumps(next));
      drawPlot(Plotly, parts.plot, tracesOf(next.lines, next.absent), layout);
    }
    drawn = quick ? null : next;
    parts.place.classList.toggle("quick", Boolean(quick));
    parts.circles.replaceChildren(
      ...(quick ? next.lines.flatMap((line) => circleShapes(line, next.frame)) : []),
    );
    if (before && phase === "settled" && differ(before, next)) endGlide = glideTo(before, next);
    handles.draw(gripsOf(shown), next.frame);
    ends.draw(next.frame);
    options.onFrame?.(next.frame);
  }

  /** @param {Scene} before @param {Scene} next */
  function glideTo(before, next) {
    const from = next.lines.map((line) => before.pixels[predecessor(line, next, before)]);
    parts.place.classList.add("quick");
    const move = movePaths.bind(null, parts.plot, next.lines);
    return glide(from, next.pixels, move, () => parts.place.classList.remove("quick"));
  }

  /** @param {[number, number]} view @param {Phase} phase */
  function ask(view, phase) {
    asked = view;
    options.onView(...view, phase);
  }

  function reset() {
    asked = home;
    options.onView(...home, "settled");
  }

  /** @param {KeyboardEvent} event */
  function pressed(event) {
    if (!picture) return;
    const { curves, range } = picture;
    press(event, {
      curves,
      view: range,
      x: probe.pinned() ?? (range[0] + range[1]) / 2,
      pin: probe.pin,
      ask,
      reset,
    });
  }

  /**
   * @param {"png"|"svg"} format
   * @returns {Promise<string>} the address of the picture, with its data in it
   */
  async function image(format) {
    if (!scene || !picture) throw new Error("There is no chart yet: wait until it is drawn");
    const { lines, frame, theme } = scene;
    return imageOf(Plotly, tracesOf(lines, []), frame, theme, captionOf(picture), format);
  }

  /** @param {"png"|"svg"} format */
  async function saveImage(format) {
    if (picture) save(await image(format), `${nameOf(picture)}.${format}`);
  }

  return {
    draw,
    resize: redraw,
    image,
    /** Leave nothing behind. */
    destroy() {
      end.abort();
      endGestures();
      endGlide();
      resized.disconnect();
      if (Plotly) Plotly.purge(parts.plot);
      host.replaceChildren();
    },
  };
}
