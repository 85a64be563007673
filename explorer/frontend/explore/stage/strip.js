// The row of controls below the chart: upstream gradient g, range of x, further curves, sizes and examples.

import { setRange, explainInvalidEnd } from "../../choice/choice.js";
import { element } from "../../elements/dom.js";
import { createExamples } from "../../cards/examples.js";
import { formatNumber } from "../../formula/numbers.js";
import { createNumberField } from "../../elements/number.js";
import { createMenu } from "../../elements/menu.js";
import { createG } from "./sliders.js";
import { createSwitches } from "./layers.js";
import { createSizeMenu } from "./size-menu.js";

/** @import { Example } from "../../cards/examples.js" */
/** @import { Choice } from "../../choice/choice.js" */

const RULE_WORDS = ["", "it", "both"]; // words for all rules on a button, by the number of rules

/**
 * Create the row of controls below the chart.
 * @param {HTMLElement} host
 * @param {{store: import("../../choice/store.js").Store, examples: Example[], sizes?: boolean, ask:
 *   import("../../asking/ask.js").CachedAsk}} options ``examples``: [] for no menu; ``sizes``: whether there is a menu
 *   for sizes
 */
export function createStrip(host, { store, examples, sizes = true, ask }) {
  const g = createG(store);
  const startField = createEndField("From", 0, (value) =>
    setRange(store.current, value, store.current.range[1]),
  );
  const stopField = createEndField("To", 1, (value) =>
    setRange(store.current, store.current.range[0], value),
  );
  const layers = createSwitches(store);
  const menu = createExamples(
    examples,
    (choice) =>
      store.change({
        ...choice,
        training: store.current.training,
        section: store.current.section,
        tools: store.current.tools,
      }),
    ({ choice }, other) => !choice.learns || choice.learns === other.learns,
    ({ rules }) => (examples.length ? `Train ${RULE_WORDS[rules.length] ?? `all ${rules.length}`}` : ""),
  );
  const drawn = createMenu(sizes && ask.has("sizes") ? "Layers and size" : "Layers", layers.element);
  const size = sizes && ask.has("sizes") ? createSizeMenu(store, ask, drawn) : null;
  layers.element.addEventListener("change", () => {
    drawn.open = false; // it covers the controls of the layer
    drawn.querySelector("summary")?.focus();
  });
  host.append(g.element, startField.label, stopField.label, element("div", { class: "end size" }, drawn));
  if (examples.length) host.before(menu.element);

  /**
   * @param {string} name @param {0|1} index 0 for the start of the range
   * @param {(value: number) => Choice} next returns the settings with a new end
   */
  function createEndField(name, index, next) {
    const { field, message, show } = createNumberField({
      name,
      onNumber: (value, byKeys) => store.change(next(value), { target: byKeys ? name : null }),
      next: (value, way) => {
        const [start, stop] = store.current.range;
        const step = 10 ** (Math.floor(Math.log10(stop - start)) - 1); // a hundredth to a tenth of the width
        return Number((value + way * step).toPrecision(12));
      },
      wrong: (value) => explainInvalidEnd(value, store.current.range[1 - index]),
    });
    const label = element("label", { class: "end flex-row" }, name, field, message);
    return { label, show: (/** @type {Choice} */ { range }) => show(formatEnd(range, index)) };
  }

  /** @param {Choice} choice the settings of the page */
  function show(choice) {
    g.show(choice);
    startField.show(choice);
    stopField.show(choice);
    layers.show(choice);
    size?.show(choice);
    menu.show(choice);
  }

  return { destroy: store.subscribeNow(show) };
}

/**
 * Format one end of a range with enough digits to distinguish it from the other.
 * @param {[number, number]} range @param {0|1} index 0 for the start
 */
function formatEnd(range, index) {
  const size = Math.max(Math.abs(range[0]), Math.abs(range[1]));
  const digits = Math.ceil(Math.log10(size / (range[1] - range[0]))) + 4;
  return digits > 6
    ? String(Number(range[index].toPrecision(Math.min(17, digits))))
    : formatNumber(range[index]);
}
