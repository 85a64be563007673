// Drawing of the chart on the screen, each time with the least sufficient work.

import { runAfterFrame, setAttribute } from "../../elements/dom.js";
import { h, render } from "../../elements/render.js";
import { glide } from "./glide.js";
import { renderImage } from "./image.js";
import { formatCircles, matchLines, movePaths } from "../scene/paths.js";
import { makeLayout, MARK_COLOUR, formatMarks } from "../scene/panels.js";
import { CONFIG } from "../plotly/plotly.js";
import { describeLines, findPredecessor, computeScene, planStep } from "../scene/scene.js";
import { readHostTheme } from "../plotly/theme.js";
import { toTraces } from "../scene/traces.js";

/** @import { Frame } from "../scene/panels.js" */
/** @import { Displayed, Scene, Space } from "../scene/scene.js" */

/** @type {Displayed} */
const NO_SCENE = { scene: null, drawn: null };

/**
 * Create the object that draws a chart with Plotly.
 * @param {HTMLElement} host @param {import("../hand/parts.js").Parts} parts
 * @param {{handles: ReturnType<typeof import("../hand/handles.js").createHandles>, ends: ReturnType<typeof
 *   import("../hand/ends.js").createEnds>, onFrame?: (frame: Frame) => void}} overlay handles over the curves;
 *   ``onFrame``: called with the positions of the panels
 */
export function createPainter(host, parts, { handles, ends, onFrame }) {
  let Plotly = /** @type {*} */ (null);
  let displayed = NO_SCENE;
  let endGlide = /** @type {(() => void)|null} */ (null); // null unless lines are animated

  /** @param {import("../scene/picture.js").Picture} picture @param {"moving"|"settled"} phase */
  function paint(picture, phase) {
    setAttribute(parts.plot, "aria-label", picture.words || "Chart");
    if (!Plotly || !(displayed.scene || parts.area.clientWidth)) return;
    const space = displayed.scene?.space ?? measureSpace(host, parts.area); // reused, because measuring forces a layout
    const next = computeScene(picture, space, phase === "moving" ? displayed.scene : null);
    const { by, glides } = planStep(next, displayed, phase);
    if (by === "values") return replaceValues(next);
    const before = displayed.scene;
    displayed = { scene: next, drawn: null };
    endGlide?.();
    endGlide = null;
    if (by === "plot") plot();
    else if (phase === "settled") {
      matchLines(parts.plot, next.lines);
      runAfterFrame(plot);
    }
    if (before && glides && !matchMedia("(prefers-reduced-motion: reduce)").matches)
      endGlide = startGlide(before, next);
    else if (by === "paths") movePaths(parts.plot, next.lines, next.pixels);
    drawCircles();
    handles.draw(next.grips, next.frame);
    ends.draw(next.frame);
    onFrame?.(next.frame);
  }

  /** @param {Scene} next */
  function replaceValues(next) {
    const { frame, pixels } = /** @type {Scene} */ (displayed.drawn);
    const { data } = /** @type {*} */ (parts.plot); // changes Plotly's own data without a redraw
    toTraces(next.lines, next.absent, next.title !== "").forEach(({ x, y }, index) =>
      Object.assign(data[index], { x, y }),
    );
    displayed = { ...displayed, scene: { ...next, frame, pixels } };
  }

  /** Have Plotly draw if only paths were moved. A running animation moves them again before the next frame. */
  function plot() {
    const { scene, drawn } = displayed;
    if (!scene || drawn) return;
    const { frame, levels, space, lines, absent, title } = scene;
    for (const copy of parts.plot.querySelectorAll(".chart-copy")) copy.remove();
    const layout = makeLayout(frame, levels, space.theme, describeLines(scene), title);
    Plotly.react(parts.plot, toTraces(lines, absent, title !== ""), layout, CONFIG);
    displayed = { scene, drawn: scene };
    drawCircles();
  }

  /** Draw circles and tick marks as long as those of Plotly are outdated. During an animation, circles are left out. */
  function drawCircles() {
    const { scene, drawn } = displayed;
    if (!scene) return;
    parts.area.classList.toggle("quick", !drawn || endGlide !== null);
    const circles = drawn || endGlide ? [] : getCircles(scene);
    render(
      parts.circles,
      h("path", { d: formatMarks(scene.frame, scene.levels), stroke: MARK_COLOUR, class: "chart-marks" }),
      circles.map((path) => h("path", path)),
    );
  }

  /** @param {Scene} before @param {Scene} next */
  function startGlide(before, next) {
    const starts = next.lines.map((line) => before.pixels[findPredecessor(line, next, before)]);
    return glide(starts, next.pixels, movePaths.bind(null, parts.plot, next.lines), () => {
      endGlide = null;
      drawCircles();
    });
  }

  return {
    paint,
    /** @param {*} loaded */
    start: (loaded) => (Plotly = loaded),
    /** Discard the displayed drawing after a change of size or theme, so that the next one is complete. */
    forget: () => (displayed = NO_SCENE),
    hasHostSize() {
      const { clientWidth, clientHeight } = parts.area;
      const space = displayed.scene?.space;
      return space !== undefined && space.width === clientWidth && space.height === clientHeight;
    },
    /** @returns {Scene|null} */
    scene: () => displayed.scene,
    /** @param {import("../scene/picture.js").Picture|null} picture @param {"png"|"svg"} format */
    async image(picture, format) {
      if (!displayed.scene || !picture) throw new Error("There is no chart yet: wait until it is drawn");
      return renderImage(Plotly, displayed.scene, picture, format);
    },
    destroy() {
      endGlide?.();
      displayed = NO_SCENE;
      if (Plotly) Plotly.purge(parts.plot);
    },
  };
}

/** @param {HTMLElement} host @param {HTMLElement} area @returns {Space} */
function measureSpace(host, area) {
  return { theme: readHostTheme(host), width: area.clientWidth, height: area.clientHeight };
}

/** The attributes of an SVG path. @typedef {Record<"d"|"class"|"stroke", string> & {fill?: string}} Path */

/** @param {Scene} scene @returns {Path[]} */
function getCircles({ lines, frame }) {
  return lines.flatMap((line) => {
    const colours = { stroke: line.colour, fill: line.colour };
    if (line.dots)
      return [{ d: formatCircles(line, line.closed, frame, 2.5), class: "chart-draws", ...colours }];
    return [
      { d: formatCircles(line, line.open, frame, 5.5), class: "chart-open", ...colours },
      { d: formatCircles(line, line.closed, frame, 4), class: "chart-closed", ...colours },
    ];
  });
}
