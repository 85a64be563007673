// The controller of the Study page, which connects its state, the study on the server and the view.

import { isQueryShort, toQuery } from "../choice/address.js";
import { addCustomEntry, getCustomEntries } from "../choice/entries.js";
import { postJson } from "../choice/server.js";
import { saveInSession, loadFromSession } from "../choice/session.js";
import { createOwnTable } from "../train/client/reading.js";
import { NO_TABLE } from "../train/state/own-table.js";
import { getSelectedTask } from "../train/state/tasks.js";
import { withFinished } from "./order.js";
import { createPainter } from "./painter.js";
import { buildPicture } from "./picture.js";
import { createSession } from "./session.js";
import { toStudyKey } from "./settings.js";
import { createState, withBegun } from "./state.js";

/** @import { Choice } from "../choice/choice.js" */
/** @import { State } from "./state.js" */

const REST_MS = 400; // pause after a change before the cost is requested
const TOO_LONG = "This choice is too long for a link and therefore for a study: use shorter formulas.";

/**
 * Create the Study page, which compares backward rules over learning rates and seeds.
 * @param {HTMLElement} host an element with empty elements for the page's parts
 * @param {ReturnType<typeof import("../choice/store.js").createStore>} store
 * @param {{server: (path: string) => string, plotly: string, colours: () => {rules: string[], neutral: string},
 *   examples: import("../cards/examples.js").Example[]}} reach ``server``: makes addresses
 */
export function createStudy(host, store, { server, plotly, colours, examples }) {
  let state = {
    ...createState(store.current, colours(), loadFromSession("own table") ?? NO_TABLE),
    ...restoreStudy(),
  };
  document.documentElement.dataset.explorer = "study";
  let frame = 0;
  let timer = 0;
  let costKey = ""; // key of the study whose cost is known or requested
  const session = createSession({ server, onChange: setView });
  const table = createOwnTable({ server, state: () => state, become: update, onRead: fetchCost });
  const painter = createPainter(host, { store, plotly, server, examples }, makeActions());

  /** @param {Partial<State>} change */
  function update(change) {
    state = { ...state, ...change };
    frame ||= requestAnimationFrame(paint);
  }

  /** @param {State["view"]} view */
  function setView(view) {
    const finished = withFinished({ ...state, view });
    if (finished !== state.finished) saveInSession("finished studies", finished);
    update({ view, finished });
  }

  function paint() {
    frame = 0;
    painter.paint(buildPicture(state));
  }

  function makeOrder() {
    return {
      query: toQuery(store.current),
      table: getSelectedTask(store.current).kind === "own" ? state.table : null,
    };
  }

  /** @param {State} next */
  function setStudy(next) {
    const { studied, studiedKey } = next;
    saveInSession("studied", studied && { studied, studiedKey, own: getCustomEntries(studied) });
    update(next);
  }

  function makeActions() {
    return {
      onStart() {
        setStudy(withBegun(state));
        session.begin(makeOrder());
      },
      onStop: session.stop,
      onResume: session.resume,
      onReset() {
        setStudy({ ...state, studied: null, studiedKey: null });
        session.drop();
      },
      onRestore: () => state.studied && store.change(state.studied),
      onWrong: (/** @type {string} */ wrong) => update({ wrong }),
      onTable: table.onTable,
    };
  }

  /** Ask the server for the cost of a study with the current settings, unless it is known or requested. */
  async function fetchCost() {
    const key = toStudyKey(store.current, state.table);
    if (key === costKey) return;
    costKey = key;
    update({ cost: null });
    if (!isQueryShort(makeOrder().query)) return update({ cost: { sentence: TOO_LONG, refused: true } });
    const answer = await postJson(server("studies/cost"), makeOrder());
    if (key !== costKey) return;
    const { message, sentence, refused = true } = answer;
    update({ cost: { sentence: sentence ?? message, refused } });
  }

  /** @param {Choice} choice @param {{phase: string}} change */
  function follow(choice, { phase }) {
    update({ choice });
    clearTimeout(timer);
    if (phase === "settled") timer = setTimeout(fetchCost, REST_MS);
  }

  const stop = store.subscribe(follow);
  session.watch();
  fetchCost();
  table.read(state.table);
  paint();
  return {
    refresh: () => update({ colours: colours() }),
    destroy() {
      stop();
      clearTimeout(timer);
      cancelAnimationFrame(frame);
      session.destroy();
      painter.destroy();
    },
  };
}

/** Return the study displayed before a reload, and add the user's formulas in it. @returns {Partial<State>} */
function restoreStudy() {
  const { own: formulas, studied = null, studiedKey = null } = loadFromSession("studied") ?? {};
  for (const kind of /** @type {const} */ (["op", "rule"]))
    formulas?.[kind].forEach((/** @type {*} */ entry) => addCustomEntry(kind, entry));
  return { studied, studiedKey, finished: loadFromSession("finished studies") ?? [] };
}
