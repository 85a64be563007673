// The figure of a study's judgement: the picture made by Python in the colours and the width of the page.

import { createFigure } from "../chart/plotly/figure.js";
import { element, setAttribute, setText } from "../elements/dom.js";
import { h, render } from "../elements/render.js";

/**
 * The judgement: ``figure`` is Plotly's data and layout, where each rule's first hover text is a sentence.
 * @typedef {{headline: string, equal: string[], figure: *, words: string,
 *   colours: Object<string, string>}} Judgement
 */

const [NARROW, WIDE] = [640, 1200]; // px: in a narrow figure the texts of a row are above and below its marks
const [STACKED_HEIGHT, WIDE_HEIGHT] = [1.5, 1.15]; // relative height of a narrow and a wide figure, for its larger letters
const STACKED = /** @type {Object<string, *>} */ ({
  rule: { yanchor: "bottom", yshift: 7 },
  words: { x: 0, yanchor: "top", yshift: -7 },
});

/**
 * Create the figure of a study's judgement, with its sentences for screen readers.
 * @param {{headline: HTMLElement, drawing: HTMLElement}} hosts
 * @param {string} plotly the address of plotly.js
 */
export function createJudgement({ headline, drawing }, plotly) {
  const [plot, list, equal] = [element("div", {}), element("ul", {}), element("p", { class: "equal" })];
  drawing.append(plot, list, equal);
  const figure = createFigure(plot, { plotly, hover: true, compose });
  return {
    /** @param {Judgement|null} judgement null before a seed has judged all rules */
    show(judgement) {
      setText(headline, (judgement?.headline ?? "").replaceAll(" %", "\u00a0%")); // keeps "%" from starting a line
      setAttribute(drawing, "hidden", !judgement);
      if (!judgement) return;
      figure.draw(judgement);
      const escaped = judgement.figure.data.map((/** @type {*} */ { hovertext }) => hovertext[0]);
      render(list, ...escaped.map((/** @type {string} */ text) => h("li", {}, decodeHtml(text))));
      setText(equal, judgement.equal.join(" "));
    },
    destroy: figure.destroy,
  };
}

/** Adapt Python's figure to the colours of the page and to a width in px. @param {Judgement} judgement @param {number} width */
function compose({ figure: { data, layout }, colours }, width) {
  const traces = data.map((/** @type {*} */ trace) => ({
    ...trace,
    marker: { ...trace.marker, color: colours[trace.meta] },
  }));
  if (width >= NARROW) {
    return { traces, layout: { ...layout, height: (width > WIDE ? WIDE_HEIGHT : 1) * layout.height } };
  }
  const axes = Object.entries(layout).filter(([name]) => name.startsWith("xaxis"));
  return {
    traces,
    layout: {
      ...layout,
      ...Object.fromEntries(axes.map(([name, axis]) => [name, { ...axis, domain: [0.02, 0.98] }])),
      height: STACKED_HEIGHT * layout.height,
      annotations: layout.annotations.map((/** @type {*} */ note) => ({
        ...note,
        text: note.text.replace("<br>", " "),
        ...STACKED[note.name],
      })),
    },
  };
}

/** Return text that was escaped for Plotly. @param {string} escaped */
function decodeHtml(escaped) {
  return new DOMParser().parseFromString(escaped, "text/html").body.textContent ?? "";
}
