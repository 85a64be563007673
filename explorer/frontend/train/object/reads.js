// Draws examples as images or bars. Dots show which rules' nets classify an example correctly.

import { createChildren, updateChildren } from "../../elements/children.js";
import { element, setAttribute, setText } from "../../elements/dom.js";
import { shape } from "../../elements/svg.js";
import { showPicture } from "../panels/picture.js";
import { paintBars, paintGrey, areEqual } from "../widgets/canvas.js";

/** @import { Plane, Reads } from "./reads-data.js" */

/** @param {HTMLElement} host */
export function createReads(host) {
  const question = element("p", { class: "question" });
  const caption = element("p", { class: "caption" });
  const wall = element("div", { class: "wall" });
  const painted = /** @type {WeakMap<Element, {example: Uint8Array, ink: number, zero: number|null}>} */ (
    new WeakMap()
  );
  const plane = shape("svg", { viewBox: "-1.05 -1.05 2.1 2.1", class: "plane", "aria-hidden": "true" });
  const planes = element("div", { class: "planes" });
  const decisions = createChildren(planes, createDecisions, ({ line }) => line.key);
  host.append(question, caption, plane, planes, wall);

  return {
    /** @param {Reads|null} reads */
    show(reads) {
      setAttribute(host, "hidden", !reads);
      if (!reads) return;
      const { examples, points, rules, ink, zero } = reads;
      plane.toggleAttribute("hidden", points.length === 0);
      setAttribute(wall, "hidden", examples.length === 0);
      decisions.show(reads.planes);
      wall.classList.toggle("of-bars", zero !== null);
      wall.classList.toggle("long", reads.long);
      updateChildren(
        plane,
        points,
        () => shape("circle", { r: 0.035 }),
        (dot, [x, y, kind]) => {
          dot.setAttribute("class", kind ? "second" : "first");
          dot.setAttribute("cx", String(x));
          dot.setAttribute("cy", String(-y));
        },
      );
      setText(question, reads.question);
      setText(caption, reads.caption);
      host.classList.toggle("asked", rules.length === 0);
      updateChildren(wall, examples, createExample, (figure, example, at) => {
        const [canvas, dots] = figure.children;
        const last = painted.get(canvas);
        if (!last || last.ink !== ink || last.zero !== zero || !areEqual(last.example, example)) {
          if (zero === null) paintGrey(canvas, example, Math.sqrt(example.length), ink);
          else paintBars(canvas, example, zero, ink);
          painted.set(canvas, { example, ink, zero });
        }
        updateChildren(
          dots,
          rules,
          () => element("i", {}),
          (dot, { line, right }) => {
            dot.style.setProperty("--colour", line.colour);
            dot.classList.toggle("right", right[at]);
            setAttribute(dot, "data-rule", line.key);
          },
        );
      });
      const totals = rules.map(({ line, right }) => `${line.label} reads ${right.filter(Boolean).length}`);
      setAttribute(wall, "role", "img");
      const summary = rules.length ? `: of ${examples.length} ${totals.join(", ")} right` : "";
      setAttribute(wall, "aria-label", `Examples${summary}`);
    },
  };
}

/** Create the plane of one rule, whose colours are the classes that its net sees. @param {Plane} plane */
function createDecisions({ line: { key } }) {
  const name = element("b", {});
  const frame = element("div", { role: "img" });
  const node = element("div", { "data-rule": key }, name, frame);
  return {
    element: node,
    /** @param {Plane} plane */
    show({ line, picture }) {
      node.style.setProperty("--colour", line.colour);
      setText(name, line.label);
      setAttribute(frame, "aria-label", `${line.label}: ${picture.words}`);
      showPicture(frame, picture);
    },
  };
}

function createExample() {
  return element("figure", {}, element("canvas", {}), element("figcaption", {}));
}
