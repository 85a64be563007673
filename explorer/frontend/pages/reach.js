// The functions with which a page asks the server for answers and files.

import { confirmBy } from "../asking/confirm.js";
import { parseMessage } from "../choice/message.js";
import { ask } from "../asking/ask-server.js";
import { toServerUrl } from "../choice/server.js";

/** Return the functions with which a chart asks the server for answers and files. @param {*} data the page's data */
export function makeReach(data) {
  return { plotly: toServerUrl(`assets/${data.plotly}`), ask, confirm: confirmBy(ask), server: toServerUrl };
}

/**
 * Return the functions with which a page asks the server for answers and files, and its examples.
 * @param {*} data the page's data from Python
 */
export function makePageReach(data) {
  const { sections, languages, notebook } = data;
  return {
    ...makeReach(data),
    ...{ sections, languages, notebook },
    carries: true,
    calm: true,
    examples: parseExamples(data.examples),
  };
}

/** Return examples with their settings parsed. @param {*[]} examples the examples from Python */
export function parseExamples(examples) {
  return examples.map((example) => ({ ...example, choice: parseMessage(example.choice) }));
}
