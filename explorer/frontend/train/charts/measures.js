// The heading of the large chart, and the switch between its measures.

import { element, setText } from "../../elements/dom.js";
import { createSwitch } from "../widgets/toggle-group.js";

/** @import { Measure } from "../state/series.js" */

/**
 * @param {HTMLElement} host
 * @param {(measure: Measure) => void} onChoose
 */
export function createMeasures(host, onChoose) {
  const title = element("h2", {});
  const choices = createSwitch("Shown in the chart", onChoose);
  host.append(title, choices.element);
  return {
    /**
     * @param {{heading: string, measures: {options: {value: Measure, label: string}[], chosen: Measure}}}
     *   picture
     */
    show({ heading, measures: { options, chosen } }) {
      setText(title, heading);
      choices.show(options, chosen);
    },
  };
}
