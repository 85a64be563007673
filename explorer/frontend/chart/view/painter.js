// The painter: brings scenes to the screen, each by the shortest way.

import { counted } from "../../elements/children.js";
import { setAttribute } from "../../elements/dom.js";
import { shape } from "../../elements/svg.js";
import { glide } from "./glide.js";
import { imageOf } from "./image.js";
import { circlesText, movePaths } from "../scene/paths.js";
import { layoutOf, MARKED, marksText } from "../scene/panels.js";
import { CONFIG } from "../plotly/plotly.js";
import { aboutLines, predecessor, sceneOf, stepTo } from "../scene/scene.js";
import { themeOf } from "../plotly/theme.js";
import { tracesOf } from "../scene/traces.js";

/** @import { Frame } from "../scene/panels.js" */
/** @import { Displayed, Scene, Space } from "../scene/scene.js" */

/** @type {Displayed} */
const NOTHING = { scene: null, drawn: null };

/**
 * @param {HTMLElement} host
 * @param {import("../hand/parts.js").Parts} parts
 * @param {{handles: ReturnType<typeof import("../hand/handles.js").createHandles>,
 *   ends: ReturnType<typeof import("../hand/ends.js").createEnds>, onFrame?: (frame: Frame) => void}} overlay the
 *   overlay of the curves; ``onFrame`` gets the positions of the panels
 */
export function createPainter(host, parts, { handles, ends, onFrame }) {
  let Plotly = /** @type {*} */ (null);
  let displayed = NOTHING;
  let endGlide = () => {};

  /**
   * Bring a picture to the screen, once Plotly is loaded and the host is laid out.
   * @param {import("../scene/picture.js").Picture} picture
   * @param {"moving"|"settled"} phase
   */
  function paint(picture, phase) {
    setAttribute(parts.plot, "aria-label", picture.words || "Chart");
    if (!Plotly || !(displayed.scene || parts.area.clientWidth)) return;
    const space = displayed.scene?.space ?? spaceOf(host, parts.area); // to measure it costs a layout
    const next = sceneOf(picture, space, phase === "moving" ? displayed.scene : null);
    const { by, glides } = stepTo(next, displayed, phase);
    if (by === "values") exchange(next);
    else bring(next, by === "paths", glides);
  }

  /** Other values of lines that look the same. @param {Scene} next */
  function exchange(next) {
    const { frame, pixels } = /** @type {Scene} */ (displayed.drawn);
    const { data } = /** @type {*} */ (parts.plot); // Plotly's, which it does not draw for this
    tracesOf(next.lines, next.absent, next.title !== "").forEach(({ x, y }, index) =>
      Object.assign(data[index], { x, y }),
    );
    displayed = { ...displayed, scene: { ...next, frame, pixels } };
  }

  /** @param {Scene} next @param {boolean} quick whether only paths are set @param {boolean} glides */
  function bring(next, quick, glides) {
    const before = /** @type {Scene} */ (displayed.scene);
    displayed = { scene: next, drawn: quick ? null : next };
    endGlide();
    if (quick) movePaths(parts.plot, next.lines, next.pixels);
    else {
      const layout = layoutOf(next.frame, next.levels, next.space.theme, aboutLines(next), next.title);
      Plotly.react(parts.plot, tracesOf(next.lines, next.absent, next.title !== ""), layout, CONFIG);
    }
    parts.area.classList.toggle("quick", quick);
    counted(parts.circles, [marksOf(next), ...(quick ? circlesOf(next) : [])], () => shape("path"), drawPath);
    if (glides) endGlide = glideTo(parts, before, next);
    handles.draw(next.grips, next.frame);
    ends.draw(next.frame);
    onFrame?.(next.frame);
  }

  return {
    paint,
    /** Plotly is there. @param {*} loaded */
    start: (loaded) => (Plotly = loaded),
    /** Forget the displayed scene: size or theme have changed. */
    forget: () => (displayed = NOTHING),
    /** Whether the displayed scene has the size of its host. */
    fits() {
      const { clientWidth, clientHeight } = parts.area;
      const space = displayed.scene?.space;
      return space !== undefined && space.width === clientWidth && space.height === clientHeight;
    },
    /** @returns {Scene|null} */
    scene: () => displayed.scene,
    /** @param {import("../scene/picture.js").Picture|null} picture the displayed one @param {"png"|"svg"} format */
    async image(picture, format) {
      if (!displayed.scene || !picture) throw new Error("There is no chart yet: wait until it is drawn");
      return imageOf(Plotly, displayed.scene, picture, format);
    },
    destroy() {
      endGlide();
      if (Plotly) Plotly.purge(parts.plot);
    },
  };
}

/** @param {HTMLElement} host @param {HTMLElement} area @returns {Space} */
function spaceOf(host, area) {
  return { theme: themeOf(host), width: area.clientWidth, height: area.clientHeight };
}

/** @param {import("../hand/parts.js").Parts} parts @param {Scene} before @param {Scene} next */
function glideTo({ area, plot }, before, next) {
  const from = next.lines.map((line) => before.pixels[predecessor(line, next, before)]);
  area.classList.add("quick");
  const move = movePaths.bind(null, plot, next.lines);
  return glide(from, next.pixels, move, () => area.classList.remove("quick"));
}

/** The attributes of a path. @typedef {Record<"d"|"class"|"stroke", string> & {fill?: string}} Path */

/** @param {SVGPathElement} path @param {Path} attributes */
function drawPath(path, attributes) {
  for (const [name, value] of Object.entries(attributes)) setAttribute(path, name, value);
}

/** The marks at a format's values, seen while they move. @param {Scene} scene @returns {Path} */
function marksOf({ frame, levels }) {
  return { d: marksText(frame, levels), stroke: MARKED, class: "chart-marks" };
}

/** The circles of all lines while they move. @param {Scene} scene @returns {Path[]} */
function circlesOf({ lines, frame }) {
  return lines.flatMap((line) => {
    const colours = { stroke: line.colour, fill: line.colour };
    if (line.dots)
      return [{ d: circlesText(line, line.closed, frame, 2.5), class: "chart-draws", ...colours }];
    return [
      { d: circlesText(line, line.open, frame, 5.5), class: "chart-open", ...colours },
      { d: circlesText(line, line.closed, frame, 4), class: "chart-closed", ...colours },
    ];
  });
}
