// Training: the run of the chosen op and rules. Its state goes from press to press, and is painted in between.

import { requestJson } from "../../choice/server.js";
import { saveInSession, loadFromSession } from "../../choice/session.js";
import { createAsking } from "./requests.js";
import { createHistory } from "../history/controller.js";
import { getCommandSettings, getRunSettings } from "../client/request.js";
import { createPainter } from "./view.js";
import { loadPanels, wantedOf } from "../panels/panels.js";
import { packGhosts } from "../state/history.js";
import { objectNow, pictureOf } from "./view-model.js";
import { inkOf } from "../widgets/canvas.js";
import { createPresses } from "./lifecycle.js";
import { createFirstStep } from "../client/first-step.js";
import { createOwnTable } from "../client/reading.js";
import { createRun } from "../client/run.js";
import { createScripts } from "../client/script.js";
import { createSlowRun } from "./slow-motion.js";
import { NO_TABLE } from "../state/own-table.js";
import { stateOf } from "../state/state.js";
import { createTaskChange } from "./task-change.js";
import { createTurning } from "./live-settings.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { AlignmentMeasure, State } from "../state/state.js" */
/** @typedef {ReturnType<typeof import("../../choice/store.js").createStore>} Store */
/**
 * The page, for everything that changes it: ``now`` is the choice, ``become`` changes the state with
 * all that follows from it, ``put`` without, ``isMine`` says whether the run has the settings on display,
 * but for those that may change in mid-run, and ``rename`` that another choice is of the present run.
 * @typedef {{server: (path: string) => string, now: () => Choice, state: () => State, put: (change: Partial<State>) => void,
 *   become: (change: Partial<State>) => void, choose: Store["change"], run: ReturnType<typeof createRun>,
 *   isMine: () => boolean, rename: (choice: Choice) => void}} Page
 */

/** Load the panels that the document names, and return the function that makes a training. */
export async function loadTraining() {
  await loadPanels();
  return createTraining;
}

/**
 * @param {HTMLElement} host with the skeleton
 * @param {Store} store
 * @param {{server: (path: string) => string, plotly: string, colours: () => {rules: string[]},
 *   examples: import("../../cards/examples.js").Example[],
 *   onPresent: (present: import("../../cards/cards.js").Present) => void, calm?: boolean,
 *   cardOf: (slot: number) => HTMLElement|undefined}} reach ``calm``: whether the tools of the page wait to be called;
 *   undefined in a lesson, where the net is not drawn
 */
function createTraining(host, store, { server, plotly, colours, examples, onPresent, calm, cardOf }) {
  const theme = () => ({ colours: colours().rules, ink: inkOf(host) });
  let state = stateOf(store.current, theme(), {
    table: loadFromSession("own table") ?? NO_TABLE,
    panels: loadFromSession("panels") ?? {},
    numbers: loadFromSession("numbers") ?? {},
  });
  let frame = 0;
  const run = createRun({
    server,
    live: (command) => getCommandSettings(state, store.current, command),
    onChange: (view) => become({ view }),
  });
  const page = {
    server,
    now: () => store.current,
    put,
    become,
    run,
    choose: store.change,
    state: () => state,
    isMine: () => run.settingsKey === getRunSettings(store.current, state.table).settingsKey,
    rename: (/** @type {Choice} */ choice) => run.rename(getRunSettings(choice, state.table)),
  };
  const presses = createPresses(page);
  const turning = createTurning(page);
  const slow = createSlowRun(page, presses.buttons.onFirst);
  const own = createOwnTable({ server, state: page.state, become, onRead: presses.reconcile });
  const first = createFirstStep({ server, onFirst: (answer) => become({ first: answer }) });
  const machine = createHistory({ ...page, goOn: presses.goOn, table: own.onTable });
  const painter = createPainter(
    host,
    { store, plotly, examples, onPresent, calm, cardOf },
    {
      ...presses.buttons,
      ...createAsking(page),
      ...slow.acts,
      ...machine,
      onSetting: turning.onSetting,
      compareDevices: async () => (await requestJson(server("devices"))).words ?? "",
      onMeasure: (/** @type {import("../state/series.js").Measure} */ measure) => become({ measure }),
      onAligned: (/** @type {AlignmentMeasure} */ aligned) => become({ aligned }),
      onLayer: (/** @type {number} */ layer) => become({ layer }),
      onTable: own.onTable,
      onWhy: (/** @type {string|null} */ why) => become({ why }),
      onFold: () => become({ unfolded: !state.unfolded }),
      onLift,
      ...createTaskChange(page),
      ...createScripts(page),
      onEvidence: (/** @type {boolean} */ evidence) => become({ evidence }),
    },
  );
  put({ drawn: calm !== undefined });

  /** @param {Partial<State>} change */
  function put(change) {
    state = { ...state, ...change };
  }

  /** @param {Partial<State>} change */
  function become(change) {
    put(change);
    if (change.ghosts) saveInSession("ghosts", packGhosts(state.ghosts));
    run.show(wantedOf(state));
    slow.record();
    turning.catchUp();
    if (state.drawn) first.follow(state);
    if (change.panels || change.numbers) machine.look();
    frame ||= requestAnimationFrame(paint);
  }

  /** Another rule is pointed at: the net is drawn of it, and nothing else anew. @param {string|null} lifted */
  function onLift(lifted) {
    put({ lifted });
    if (state.drawn) painter.paintObject(objectNow(state));
  }

  function paint() {
    frame = 0;
    painter.paint(pictureOf(state));
  }

  const stop = store.subscribe(presses.follow);
  presses.recall();
  if (state.drawn) first.follow(state);
  own.read(state.table);
  paint();
  return {
    refresh: () => become(theme()),
    destroy() {
      stop();
      presses.destroy();
      first.destroy();
      cancelAnimationFrame(frame);
      run.destroy();
      painter.destroy();
    },
  };
}
