// A study of the chosen op and rules. Its state goes from press to press, and is painted in between.

import { fits, queryOf } from "../choice/address.js";
import { learn, ownEntries } from "../choice/entries.js";
import { post } from "../choice/server.js";
import { keep, load } from "../choice/session.js";
import { createOwnTable } from "../train/client/reading.js";
import { NO_TABLE } from "../train/state/own-table.js";
import { taskOf } from "../train/state/tasks.js";
import { withFinished } from "./order.js";
import { createPainter } from "./painter.js";
import { pictureOf } from "./picture.js";
import { createSession } from "./session.js";
import { studyKey } from "./settings.js";
import { stateOf, withBegun, withReset } from "./state.js";

/** @import { Choice } from "../choice/choice.js" */
/** @import { State } from "./state.js" */

const REST_MS = 400; // of rest, before it is asked what other settings cost
const TOO_LONG = "This choice is too long for a link and therefore for a study: use shorter formulas.";

/**
 * @param {HTMLElement} host with the skeleton
 * @param {ReturnType<typeof import("../choice/store.js").createStore>} store
 * @param {{server: (path: string) => string, plotly: string,
 *   colours: () => {rules: string[], neutral: string}, examples: import("../cards/examples.js").Example[]}} reach
 */
export function createStudy(host, store, { server, plotly, colours, examples }) {
  let state = { ...stateOf(store.now, colours(), load("own table") ?? NO_TABLE), ...restored() };
  let frame = 0;
  let timer = 0;
  let weighed = ""; // the key of what its cost is known or asked for
  const session = createSession({ server, onChange: seen });
  const table = createOwnTable({ server, state: () => state, become, onRead: weigh });
  const painter = createPainter(host, { store, plotly, server, examples }, acts());

  /** @param {Partial<State>} change */
  function become(change) {
    state = { ...state, ...change };
    frame ||= requestAnimationFrame(paint);
  }

  /** @param {State["view"]} view */
  function seen(view) {
    const finished = withFinished({ ...state, view });
    if (finished !== state.finished) keep("finished studies", finished);
    become({ view, finished });
  }

  function paint() {
    frame = 0;
    painter.paint(pictureOf(state));
  }

  /** The study of the present choice, to begin. */
  function order() {
    return { query: queryOf(store.now), table: taskOf(store.now).kind === "own" ? state.table : null };
  }

  /** Another study is on display; the page remembers it when it is loaded again. @param {State} next */
  function take(next) {
    const { studied, studiedKey } = next;
    keep("studied", studied && { studied, studiedKey, own: ownEntries(studied) });
    become(next);
  }

  /** The actions of the page, each by its button. */
  function acts() {
    return {
      onStart() {
        take(withBegun(state));
        session.begin(order());
      },
      onStop: session.stop,
      onResume: session.resume,
      onReset() {
        take(withReset(state));
        session.drop();
      },
      onWrong: (/** @type {number} */ wrong) => become({ wrong }),
      onTable: table.onTable,
    };
  }

  /** Ask what the chosen study would take, where that is not known. */
  async function weigh() {
    const key = studyKey(store.now, state.table);
    if (key === weighed) return;
    weighed = key;
    become({ cost: null });
    if (!fits(order().query)) return become({ cost: { sentence: TOO_LONG, refused: true } });
    const answer = await post(server("studies/cost"), order());
    if (key !== weighed) return;
    const { message, sentence, refused = true } = answer;
    become({ cost: { sentence: sentence ?? message, refused } });
  }

  /** @param {Choice} choice @param {{phase: string}} change */
  function follow(choice, { phase }) {
    become({ choice });
    clearTimeout(timer);
    if (phase === "settled") timer = setTimeout(weigh, REST_MS);
  }

  const stop = store.subscribe(follow);
  session.watch();
  weigh();
  table.read(state.table);
  paint();
  return {
    refresh: () => become({ colours: colours() }),
    destroy() {
      stop();
      clearTimeout(timer);
      cancelAnimationFrame(frame);
      session.destroy();
      painter.destroy();
    },
  };
}

/** The study from before the page was loaded, with its own formulas. @returns {Partial<State>} */
function restored() {
  const { own, studied = null, studiedKey = null } = load("studied") ?? {};
  for (const kind of /** @type {const} */ (["op", "rule"]))
    own?.[kind].forEach((/** @type {*} */ entry) => learn(kind, entry));
  return { studied, studiedKey, finished: load("finished studies") ?? [] };
}
