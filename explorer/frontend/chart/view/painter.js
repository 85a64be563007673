// The painter: brings scenes to the screen, each by the cheapest step.

import { updateChildren } from "../../elements/children.js";
import { setAttribute } from "../../elements/dom.js";
import { shape } from "../../elements/svg.js";
import { glide } from "./glide.js";
import { renderImage } from "./image.js";
import { formatCircles, movePaths } from "../scene/paths.js";
import { layoutOf, MARK_COLOUR, formatMarks } from "../scene/panels.js";
import { CONFIG } from "../plotly/plotly.js";
import { describeLines, findPredecessor, sceneOf, planStep } from "../scene/scene.js";
import { themeOf } from "../plotly/theme.js";
import { tracesOf } from "../scene/traces.js";

/** @import { Frame } from "../scene/panels.js" */
/** @import { Displayed, Scene, Space } from "../scene/scene.js" */

/** @type {Displayed} */
const NO_SCENE = { scene: null, drawn: null };

/**
 * Create the painter of a chart.
 * @param {HTMLElement} host
 * @param {import("../hand/parts.js").Parts} parts
 * @param {{handles: ReturnType<typeof import("../hand/handles.js").createHandles>,
 *   ends: ReturnType<typeof import("../hand/ends.js").createEnds>, onFrame?: (frame: Frame) => void}} overlay the
 *   handles over the curves; ``onFrame`` gets the positions of the panels
 */
export function createPainter(host, parts, { handles, ends, onFrame }) {
  let Plotly = /** @type {*} */ (null);
  let displayed = NO_SCENE;
  let endGlide = () => {};

  /**
   * Paint a picture, once Plotly is loaded and the host is laid out.
   * @param {import("../scene/picture.js").Picture} picture
   * @param {"moving"|"settled"} phase
   */
  function paint(picture, phase) {
    setAttribute(parts.plot, "aria-label", picture.words || "Chart");
    if (!Plotly || !(displayed.scene || parts.area.clientWidth)) return;
    const space = displayed.scene?.space ?? spaceOf(host, parts.area); // measuring triggers a layout
    const next = sceneOf(picture, space, phase === "moving" ? displayed.scene : null);
    const { by, glides } = planStep(next, displayed, phase);
    if (by === "values") replaceValues(next);
    else drawScene(next, by === "paths", glides);
  }

  /** Replace the values of lines that look the same. @param {Scene} next */
  function replaceValues(next) {
    const { frame, pixels } = /** @type {Scene} */ (displayed.drawn);
    const { data } = /** @type {*} */ (parts.plot); // Plotly's data, changed without a redraw
    tracesOf(next.lines, next.absent, next.title !== "").forEach(({ x, y }, index) =>
      Object.assign(data[index], { x, y }),
    );
    displayed = { ...displayed, scene: { ...next, frame, pixels } };
  }

  /** Draw a scene. @param {Scene} next @param {boolean} quick whether only paths are set @param {boolean} glides */
  function drawScene(next, quick, glides) {
    const before = /** @type {Scene} */ (displayed.scene);
    displayed = { scene: next, drawn: quick ? null : next };
    endGlide();
    if (quick) movePaths(parts.plot, next.lines, next.pixels);
    else {
      const layout = layoutOf(next.frame, next.levels, next.space.theme, describeLines(next), next.title);
      Plotly.react(parts.plot, tracesOf(next.lines, next.absent, next.title !== ""), layout, CONFIG);
    }
    parts.area.classList.toggle("quick", quick);
    updateChildren(
      parts.circles,
      [marksOf(next), ...(quick ? circlesOf(next) : [])],
      () => shape("path"),
      drawPath,
    );
    if (glides) endGlide = startGlide(parts, before, next);
    handles.draw(next.grips, next.frame);
    ends.draw(next.frame);
    onFrame?.(next.frame);
  }

  return {
    paint,
    /** Set Plotly once it is loaded. @param {*} loaded */
    start: (loaded) => (Plotly = loaded),
    /** Forget the displayed scene after a change of size or theme. */
    forget: () => (displayed = NO_SCENE),
    /** Return whether the displayed scene has the size of its host. */
    hasHostSize() {
      const { clientWidth, clientHeight } = parts.area;
      const space = displayed.scene?.space;
      return space !== undefined && space.width === clientWidth && space.height === clientHeight;
    },
    /** Return the displayed scene. @returns {Scene|null} */
    scene: () => displayed.scene,
    /** Render the picture. @param {import("../scene/picture.js").Picture|null} picture @param {"png"|"svg"} format */
    async image(picture, format) {
      if (!displayed.scene || !picture) throw new Error("There is no chart yet: wait until it is drawn");
      return renderImage(Plotly, displayed.scene, picture, format);
    },
    destroy() {
      endGlide();
      if (Plotly) Plotly.purge(parts.plot);
    },
  };
}

/** Return the space for a scene. @param {HTMLElement} host @param {HTMLElement} area @returns {Space} */
function spaceOf(host, area) {
  return { theme: themeOf(host), width: area.clientWidth, height: area.clientHeight };
}

/**
 * Animate the step to a scene.
 * @param {import("../hand/parts.js").Parts} parts @param {Scene} before @param {Scene} next
 */
function startGlide({ area, plot }, before, next) {
  const starts = next.lines.map((line) => before.pixels[findPredecessor(line, next, before)]);
  area.classList.add("quick");
  const move = movePaths.bind(null, plot, next.lines);
  return glide(starts, next.pixels, move, () => area.classList.remove("quick"));
}

/** The attributes of a path. @typedef {Record<"d"|"class"|"stroke", string> & {fill?: string}} Path */

/** Set the attributes of a path. @param {SVGPathElement} path @param {Path} attributes */
function drawPath(path, attributes) {
  for (const [name, value] of Object.entries(attributes)) setAttribute(path, name, value);
}

/** Return the marks at a format's values, visible during a drag. @param {Scene} scene @returns {Path} */
function marksOf({ frame, levels }) {
  return { d: formatMarks(frame, levels), stroke: MARK_COLOUR, class: "chart-marks" };
}

/** Return the circles of all lines during a drag. @param {Scene} scene @returns {Path[]} */
function circlesOf({ lines, frame }) {
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
