// The chart of a printed lesson: an image by Plotly with the data of the page's chart.

import { getEntries, getLoss, getSamplingSettings } from "../../choice/choice.js";
import { findEntry } from "../../choice/entries.js";
import { makeLayout } from "../../chart/scene/panels.js";
import { computeScene } from "../../chart/scene/scene.js";
import { toTraces } from "../../chart/scene/traces.js";
import { element } from "../../elements/dom.js";
import { sampleCurves } from "../../formula/curves.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { Rule } from "../../formula/entry.js" */

const INK = "rgb(28, 39, 51)";
const THEME = { text: INK, ground: "rgb(255, 255, 255)", font: "sans-serif", type: 0 };
const [LARGE, SMALL] = [
  { theme: THEME, width: 640, height: 400 },
  { theme: THEME, width: 400, height: 190 },
]; // px

/**
 * Draw a lesson's chart as an image for printing: the op above empty axes or, in the solution, one rule's gradient.
 * @param {*} Plotly @param {Choice} choice
 * @param {{rule: string|null, leastRange: [number, number]}} shown ``rule``: its key, or null for empty axes;
 *   ``leastRange``: a range that the gradient axis includes
 * @returns {Promise<HTMLElement>}
 */
export async function drawPaperChart(Plotly, choice, { rule, leastRange }) {
  const space = rule ? SMALL : LARGE;
  const scene = computeScene(makePicture(choice, rule, leastRange), space, null);
  const lines = scene.lines.filter(({ panel, dots }) => !dots && (rule ? panel === "gradient" : true));
  const fullLayout = makeLayout(scene.frame, scene.levels, THEME, "");
  const { yaxis: _, ...gradientLayout } = { ...fullLayout, yaxis2: { ...fullLayout.yaxis2, domain: [0, 1] } };
  // Plotly leaves out a panel without a trace
  const data = toTraces(lines, rule ? [] : [{ key: "", label: "" }], false);
  const { width, height } = space;
  const src = await Plotly.toImage(
    { data, layout: rule ? gradientLayout : fullLayout },
    { format: "svg", width, height },
  );
  return element("img", { src, alt: "" });
}

/** @param {Choice} choice @param {string|null} key the rule, or null @param {[number, number]} leastRange */
function makePicture(choice, key, leastRange) {
  const { op } = getEntries(choice);
  const rules = key ? [/** @type {Rule} */ (findEntry("rule", key))] : [];
  const loss = getLoss(choice);
  const sampled = sampleCurves({ op, rules }, { ...getSamplingSettings(choice), loss });
  const listed = rules.map((entry) => ({ ...entry, colour: INK, slot: 0, hidden: false, entry }));
  const { parameters, g, range } = choice;
  return {
    curves: sampled,
    ...{
      op,
      rules: listed,
      neutral: INK,
      parameters,
      g,
      range,
      leastRange,
      words: "",
      confirmed: true,
      loss,
    },
  };
}
