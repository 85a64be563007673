// The means of an instrument with a server.

import { createConfirmation } from "../asking/confirm.js";
import { parseMessage } from "../choice/message.js";
import { ask } from "../asking/ask-server.js";
import { toServerUrl } from "../choice/server.js";

/** The means of every instrument with a server. @param {*} data as Python sends it */
export function reachOf(data) {
  return {
    plotly: toServerUrl(`assets/${data.plotly}`),
    ask,
    confirm: /** @type {import("../asking/confirm.js").Confirm} */ (
      (on) => createConfirmation({ ask, ...on })
    ),
    server: toServerUrl,
  };
}

/** The means of an instrument on a page. @param {*} data as Python sends it */
export function pageReachOf(data) {
  const { sections, languages, notebook } = data;
  return {
    ...reachOf(data),
    ...{ sections, languages, notebook },
    carries: true,
    calm: true,
    examples: receivedExamples(data.examples),
  };
}

/** Examples with their choices. @param {*[]} examples as Python sends them */
export function receivedExamples(examples) {
  return examples.map((example) => ({ ...example, choice: parseMessage(example.choice) }));
}
