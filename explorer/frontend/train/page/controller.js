// The controller of the Train page, which connects its state, its training run and its view.

import { requestJson } from "../../choice/server.js";
import { saveInSession, loadFromSession } from "../../choice/session.js";
import { createRequests } from "./requests.js";
import { createHistory } from "../history/controller.js";
import { getCommandSettings, getRunSettings } from "../client/request.js";
import { createPainter } from "./view.js";
import { listRequests } from "../panels/panels.js";
import { packGhosts } from "../state/history.js";
import { makeObject, buildPicture } from "./view-model.js";
import { readInk } from "../widgets/canvas.js";
import { createLifecycle } from "./lifecycle.js";
import { createFirstStep } from "../client/first-step.js";
import { createOwnTable } from "../client/reading.js";
import { createRun } from "../client/run.js";
import { createScripts } from "../client/script.js";
import { createSlowRun } from "./slow-motion.js";
import { NO_TABLE } from "../state/own-table.js";
import { createState } from "../state/state.js";
import { createTaskChange } from "./task-change.js";
import { createLiveSettings } from "./live-settings.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { AlignmentMeasure, State } from "../state/state.js" */
/** @typedef {ReturnType<typeof import("../../choice/store.js").createStore>} Store */
/**
 * The page, for code that changes it: ``now`` returns the choice; ``become`` changes the state with all consequences,
 * ``put`` without them; ``isMine`` returns whether the run has the displayed settings, except settings that can change
 * during a run; ``rename`` assigns another choice to the present run.
 * @typedef {{server: (path: string) => string, now: () => Choice, state: () => State, put: (change: Partial<State>) => void,
 *   become: (change: Partial<State>) => void, choose: Store["change"], run: ReturnType<typeof createRun>,
 *   isMine: () => boolean, rename: (choice: Choice) => void}} Page
 */

/**
 * Create the Train page in an element that contains its static HTML.
 * @param {HTMLElement} host with the skeleton
 * @param {Store} store
 * @param {{server: (path: string) => string, plotly: string, colours: () => {rules: string[]},
 *   examples: import("../../cards/examples.js").Example[],
 *   onPresent: (present: import("../../cards/cards.js").Present) => void, calm?: boolean,
 *   cardOf: (slot: number) => HTMLElement|undefined}} reach ``calm`` says whether the tools are closed at first; it is
 *   undefined in a lesson, which does not draw the net
 */
export function createTraining(host, store, { server, plotly, colours, examples, onPresent, calm, cardOf }) {
  const getTheme = () => ({ colours: colours().rules, ink: readInk(host) });
  let state = createState(store.current, getTheme(), {
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
  const lifecycle = createLifecycle(page);
  const liveSettings = createLiveSettings(page);
  const slow = createSlowRun(page, lifecycle.buttons.onFirst);
  const ownTable = createOwnTable({ server, state: page.state, become, onRead: lifecycle.reconcile });
  const first = createFirstStep({ server, onFirst: (answer) => become({ first: answer }) });
  const historyControl = createHistory({ ...page, goOn: lifecycle.goOn, table: ownTable.onTable });
  const painter = createPainter(
    host,
    { store, plotly, examples, onPresent, calm, cardOf },
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
      onWhy: (/** @type {string|null} */ why) =>
        become({ why, layer: state.view.status.lines[why ?? ""]?.layer ?? state.layer }),
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
    run.show(listRequests(state));
    slow.record();
    liveSettings.catchUp();
    if (state.drawn) first.follow(state);
    if (change.panels || change.numbers) historyControl.look();
    frame ||= requestAnimationFrame(paint);
  }

  /** Highlight a backward rule. Only the drawing of the net is updated. @param {string|null} lifted */
  function onLift(lifted) {
    put({ lifted });
    if (state.drawn) painter.paintObject(makeObject(state));
  }

  function paint() {
    frame = 0;
    painter.paint(buildPicture(state));
  }

  const stop = store.subscribe(lifecycle.follow);
  lifecycle.recall();
  if (state.drawn) first.follow(state);
  ownTable.read(state.table);
  paint();
  return {
    refresh: () => become(getTheme()),
    destroy() {
      stop();
      lifecycle.destroy();
      first.destroy();
      cancelAnimationFrame(frame);
      run.destroy();
      painter.destroy();
    },
  };
}
