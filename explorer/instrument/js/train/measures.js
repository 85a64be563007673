// What the large chart shows, by name, and the switch between that and the rest.

import { element, setAttribute, setText } from "../elements/dom.js";

/** @typedef {import("./series.js").Measure} Measure */

/**
 * @param {HTMLElement} host
 * @param {(measure: Measure) => void} onChoose
 */
export function createMeasures(host, onChoose) {
  const title = element("h2", {});
  const group = element("div", { class: "switch", role: "group", "aria-label": "Shown in the chart" });
  const buttons = /** @type {Map<Measure, HTMLElement>} */ (new Map());
  host.append(title, group);

  /** @param {{measure: Measure, label: string}} option */
  function button({ measure, label }) {
    const made =
      buttons.get(measure) ?? element("button", { type: "button", onclick: () => onChoose(measure) });
    buttons.set(measure, made);
    setText(made, label);
    return made;
  }

  return {
    /**
     * @param {{heading: string, measures: {options: {measure: Measure, label: string}[],
     *   chosen: Measure}}} picture
     */
    show({ heading, measures: { options, chosen } }) {
      setText(title, heading);
      const wanted = options.map(button);
      if (
        wanted.some((node, index) => group.children[index] !== node) ||
        group.children.length > wanted.length
      )
        group.replaceChildren(...wanted);
      for (const [measure, node] of buttons) setAttribute(node, "aria-pressed", String(measure === chosen));
    },
  };
}
