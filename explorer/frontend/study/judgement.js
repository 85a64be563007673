// The figure of a study's result, drawn by Python, in the page's colours and width.

import { createFigure } from "../chart/plotly/figure.js";
import { element, setAttribute, setText } from "../elements/dom.js";
import { h, render } from "../elements/render.js";

/**
 * Python's statement about which rules may be best. ``figure``: Plotly's data and layout, in which the first hover text
 * of each rule is a sentence; ``equal``: keys of the rules that may be best; ``colours``: colours by rule key.
 * @typedef {{headline: string, equal: string[], figure: *, words: string, colours: Object<string, string>}} Judgement
 */

const NARROW = 760; // px; in narrower figures and in presentation mode, texts are above and below the marks
const STACKED = /** @type {Object<string, *>} */ ({
  rule: { yanchor: "bottom", yshift: 7 },
  words: { x: 0, yanchor: "top", yshift: -7 },
});

/**
 * Create the figure of a study's result, with its sentences for screen readers.
 * @param {{headline: HTMLElement, drawing: HTMLElement}} hosts @param {string} plotly address of plotly.js
 */
export function createJudgement({ headline, drawing }, plotly) {
  const [plot, list, equal] = [element("div", {}), element("ul", {}), element("p", { class: "equal" })];
  drawing.append(plot, list, equal);
  const isOnStage = () => plot.closest(".presenting") !== null;
  const figure = createFigure(plot, {
    plotly,
    hover: true,
    compose: (/** @type {Judgement} */ judgement, width) => compose(judgement, width < NARROW, isOnStage()),
  });
  return {
    /** @param {Judgement|null} judgement the judgement, null until all rules have results for one seed */
    show(judgement) {
      setText(headline, (judgement?.headline ?? "").replaceAll(" %", "\u00a0%")); // so that no line begins with "%"
      setAttribute(drawing, "hidden", !judgement);
      if (!judgement) return;
      plot.style.setProperty("--rows", String(judgement.figure.layout.height));
      figure.draw(judgement);
      const parser = new DOMParser(); // texts for Plotly are escaped
      const decode = (/** @type {*} */ { hovertext: [text] }) =>
        parser.parseFromString(text, "text/html").body.textContent ?? "";
      render(list, ...judgement.figure.data.map((/** @type {*} */ trace) => h("li", {}, decode(trace))));
      setText(equal, judgement.equal.join(" "));
    },
    destroy: figure.destroy,
  };
}

/**
 * Return Python's figure, adapted to the page's colours and the size of the element. In presentation mode, rows have no
 * text: their marks show the difference.
 * @param {Judgement} judgement @param {boolean} isNarrow @param {boolean} isOnStage
 */
function compose({ figure, colours }, isNarrow, isOnStage) {
  const { height: _height, ...layout } = { ...figure.layout, margin: { l: 0, r: 0, t: 4 } };
  const traces = figure.data.map((/** @type {*} */ trace) => ({
    ...trace,
    marker: { ...trace.marker, color: colours[trace.meta] },
  }));
  if (!isNarrow && !isOnStage) return { traces, layout };
  const notes = layout.annotations.filter((/** @type {*} */ { name }) => !isOnStage || name === "rule");
  const axes = Object.entries(layout).filter(([name]) => name.startsWith("xaxis"));
  return {
    traces,
    layout: {
      ...layout,
      ...Object.fromEntries(axes.map(([name, axis]) => [name, { ...axis, domain: [0.02, 0.98] }])),
      annotations: notes.map((/** @type {*} */ note) => ({
        ...note,
        text: note.text.replace("<br>", " "),
        ...STACKED[note.name],
      })),
    },
  };
}
