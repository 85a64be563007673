// The controller of the panels: opening, arguments, and requests for measurements.

import { saveInSession } from "../../choice/session.js";
import { getLayerChoice } from "../state/layers.js";
import { toDisplayedState } from "../state/history.js";
import { SEARCH } from "../evidence/line-search-data.js";

const NO_RUN = { message: "Press Start first: there is no run yet." };

/** Create the controller of the panels. @param {import("./model.js").Page} page */
export function createRequests({ state, become, run }) {
  /**
   * Have the server measure the nets with an instrument. Answers to outdated requests are ignored.
   * @param {string} key the instrument's key @param {Object<string, number>} numbers its arguments
   */
  async function measure(key, numbers) {
    const { id, status } = toDisplayedState(state()).view;
    const request = { numbers, step: status.step, run: id, answer: null };
    become({ requests: { ...state().requests, [key]: request } });
    const answer = (await run.measure(key, numbers, state().at)) ?? NO_RUN;
    const { requests } = state();
    if (requests[key] === request) become({ requests: { ...requests, [key]: { ...request, answer } } });
  }

  return {
    onPanel(/** @type {string} */ key, /** @type {boolean} */ open) {
      const panels = { ...state().panels, [key]: open };
      saveInSession("panels", panels);
      become({ panels });
      if (open && key === SEARCH) measure(SEARCH, {});
    },
    onNumber(/** @type {string} */ key, /** @type {string} */ name, /** @type {number} */ value) {
      const { numbers } = state();
      become({ numbers: { ...numbers, [key]: { ...numbers[key], [name]: value } } });
      saveInSession("numbers", state().numbers);
    },
    onSearch: () => void measure(SEARCH, {}),
    /**
     * Ask the question of a button in a panel's legend. If its answer is displayed already, hide it.
     * @param {import("../state/instruments.js").Panel} panel @param {number} index index of the button
     */
    onLegend({ asks, legend }, index) {
      const { chosen: layer } = getLayerChoice(state());
      const numbers = { layer, ...legend[index].numbers };
      const { [asks]: displayed, ...requests } = state().requests;
      if (JSON.stringify(displayed?.numbers) === JSON.stringify(numbers)) become({ requests });
      else measure(asks, numbers);
    },
  };
}
