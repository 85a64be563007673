// The controller of the Train page: connects its state, the run on the server and the view.

import { isPresenting } from "../../choice/presentation.js";
import { requestJson } from "../../choice/server.js";
import { saveInSession, loadFromSession } from "../../choice/session.js";
import { createRequests } from "./requests.js";
import { createHistory } from "../history/controller.js";
import { createPainter } from "./view.js";
import { makeObject, buildPicture } from "./view-model.js";
import { getOpenTools, setOpenTools } from "../../choice/tools.js";
import { readInk } from "../../elements/canvas.js";
import { createModel } from "./model.js";
import { createFirstStep } from "../client/first-step.js";
import { createOwnTable } from "../client/reading.js";
import { createScripts } from "../client/script.js";
import { createSlowRun } from "./slow-motion.js";
import { NO_TABLE } from "../state/own-table.js";
import { createTaskChange } from "./task-change.js";
import { createLiveSettings } from "./live-settings.js";

/** @import { AlignmentMeasure, State } from "../state/state.js" */

/**
 * Create the Train page.
 * @param {HTMLElement} host an element with empty elements for the page's parts
 * @param {import("./model.js").Store} store
 * @param {{server: (path: string) => string, plotly: string, colours: () => {rules: string[]}, examples:
 *   import("../../cards/examples.js").Example[], onPresent: (present: import("../../cards/cards.js").Present) => void,
 *   cardOf: (slot: number) => import("../../cards/card.js").Holder|undefined}} reach ``server``: makes addresses;
 *   ``onPresent``: called with learned values for the cards; ``cardOf``: returns the card in a slot
 */
export function createTraining(host, store, { server, plotly, colours, examples, onPresent, cardOf }) {
  const getTheme = () => ({ colours: colours().rules, ink: readInk(host) });
  const model = createModel(store, {
    ...{ server, theme: getTheme(), onChange },
    stored: {
      table: loadFromSession("own table") ?? NO_TABLE,
      panels: loadFromSession("panels") ?? {},
      numbers: loadFromSession("numbers") ?? {},
    },
    paint: (state) => painter.paint(buildPicture(state)),
  });
  const { page, lifecycle } = model;
  const { put, become, state } = page;
  const liveSettings = createLiveSettings(page);
  const slow = createSlowRun(page, lifecycle.buttons.onFirst);
  const ownTable = createOwnTable({ server, state, become, onRead: lifecycle.reconcile });
  const first = createFirstStep({ server, onFirst: (answer) => become({ first: answer }) });
  const historyControl = createHistory({ ...page, goOn: lifecycle.goOn, table: ownTable.onTable });
  const painter = createPainter(
    host,
    { store, plotly, examples, onPresent, cardOf },
    {
      ...lifecycle.buttons,
      ...createRequests(page),
      ...slow.acts,
      ...historyControl,
      onSetting: liveSettings.onSetting,
      compareDevices: async () => (await requestJson(server("devices"))).words ?? "",
      onMeasure: (/** @type {import("../state/series.js").Measure} */ measure) => become({ measure }),
      onAligned: (/** @type {AlignmentMeasure} */ aligned) => become({ aligned }),
      onLayer: (/** @type {number} */ layer) => become({ layer }),
      onTable: ownTable.onTable,
      onWhy(/** @type {string|null} */ why) {
        const said = state().view.status.lines[why ?? ""];
        const change = /** @type {Partial<State>} */ ({ why, layer: said?.layer ?? state().layer });
        if (why && isPresenting()) setOpenTools(store, ""); // one at a time fits
        if (said?.panel === "loss") change.measure = "loss";
        if (said?.panel === "score") change.measure = null; // the default
        become(change);
      },
      onFold: () => become({ unfolded: !state().unfolded }),
      onHighlight,
      ...createTaskChange(page),
      ...createScripts(page),
      onWrong: (/** @type {string} */ wrong) => become({ wrong }),
      onEvidence: (/** @type {boolean} */ evidence) =>
        become(getOpenTools(store.current) && isPresenting() ? { evidence, why: null } : { evidence }),
    },
  );

  /** Do what follows from a change of the state. @param {Partial<State>} change */
  function onChange(change) {
    if ("past" in change) saveInSession("run before", state().past);
    slow.record();
    liveSettings.catchUp();
    first.follow(state());
    if (change.panels || change.numbers || change.plane) historyControl.look();
  }

  /** @param {string|null} highlighted the rule, or null for none */
  function onHighlight(highlighted) {
    put({ highlighted });
    painter.paintObject(makeObject(state()));
    if (highlighted && highlighted !== state().plane) become({ plane: highlighted });
  }

  lifecycle.recall();
  first.follow(state());
  ownTable.read(state().table);
  model.draw();
  return {
    refresh: () => become(getTheme()),
    destroy() {
      model.destroy();
      first.destroy();
      painter.destroy();
    },
  };
}
