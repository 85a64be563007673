// The means of an instrument with a server.

import { createConfirmation } from "../choice/confirm.js";
import { received } from "../choice/message.js";
import { readCode, readFormula, readLines, server } from "../choice/server.js";

/** The means of every instrument with a server. @param {*} data as Python sends it */
export function reachOf(data) {
  return {
    plotly: server(`assets/${data.plotly}`),
    confirm: /** @type {import("../choice/confirm.js").Confirm} */ (
      (on) => createConfirmation({ address: server("confirm"), ...on })
    ),
    read: readFormula,
    server,
  };
}

/** The means of an instrument on a page. @param {*} data as Python sends it */
export function pageReachOf(data) {
  return {
    ...reachOf(data),
    readCode,
    readLines,
    save: server("save"),
    carries: true,
    calm: true,
    sections: data.sections,
    examples: receivedExamples(data.examples),
  };
}

/** Examples with their choices. @param {*[]} examples as Python sends them */
export function receivedExamples(examples) {
  return examples.map((example) => ({ ...example, choice: received(example.choice) }));
}
