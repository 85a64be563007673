// The chart of a lesson on paper: the scene of the page's chart as a picture that Plotly saves.

import { getEntries, getLoss, getSamplingSettings } from "../../choice/choice.js";
import { findEntry } from "../../choice/entries.js";
import { layoutOf } from "../../chart/scene/panels.js";
import { sceneOf } from "../../chart/scene/scene.js";
import { tracesOf } from "../../chart/scene/traces.js";
import { element } from "../../elements/dom.js";
import { sampleCurves } from "../../formula/curves.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { Rule } from "../../formula/entry.js" */

const INK = "rgb(28, 39, 51)";
const THEME = { text: INK, ground: "rgb(255, 255, 255)", font: "sans-serif", type: 0 };
const [WHOLE, SMALL] = [
  { theme: THEME, width: 640, height: 400 },
  { theme: THEME, width: 400, height: 190 },
]; // px

/**
 * The op above empty axes for its gradient; with a ``rule``, its gradient alone.
 * @param {*} Plotly
 * @param {Choice} choice
 * @param {{rule: string|null, leastRange: [number, number]}} shown ``leastRange`` is always on the gradients' axis
 * @returns {Promise<HTMLElement>}
 */
export async function paperChart(Plotly, choice, { rule, leastRange }) {
  const space = rule ? SMALL : WHOLE;
  const scene = sceneOf(pictureOf(choice, rule, leastRange), space, null);
  const lines = scene.lines.filter(({ panel, dots }) => !dots && (rule ? panel === "gradient" : true));
  const whole = layoutOf(scene.frame, scene.levels, THEME, "");
  const { yaxis: _, ...alone } = { ...whole, yaxis2: { ...whole.yaxis2, domain: [0, 1] } };
  const data = tracesOf(lines, rule ? [] : [{ key: "", label: "" }], false); // Plotly draws no panel without a trace
  const { width, height } = space;
  const src = await Plotly.toImage({ data, layout: rule ? alone : whole }, { format: "svg", width, height });
  return element("img", { src, alt: "" });
}

/** @param {Choice} choice @param {string|null} key of a rule @param {[number, number]} leastRange */
function pictureOf(choice, key, leastRange) {
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
