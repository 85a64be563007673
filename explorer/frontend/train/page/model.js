// The state of a page with a training run. Every change goes through it and updates the view.

import { getCommandSettings, getRunSettings } from "../client/request.js";
import { createRun } from "../client/run.js";
import { listRequests } from "../panels/panels.js";
import { createState } from "../state/state.js";
import { createLifecycle } from "./lifecycle.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { State } from "../state/state.js" */
/** The store of the page's settings. @typedef {ReturnType<typeof import("../../choice/store.js").createStore>} Store */
/**
 * The page as its controllers see it. ``now``: returns the settings; ``put``: changes the state; ``become``: also does
 * everything that follows from the change; ``choose``: replaces the settings; ``isMine``: whether the run has the
 * current settings, not counting those that can change during a run; ``rename``: stores settings as those of the
 * present run.
 * @typedef {{server: (path: string) => string, now: () => Choice, state: () => State, put: (change: Partial<State>) =>
 *   void, become: (change: Partial<State>) => void, choose: Store["change"], run: ReturnType<typeof createRun>, isMine:
 *   () => boolean, rename: (choice: Choice) => void}} Page
 */

/**
 * Create the state of a page with a training run.
 * @param {Store} store
 * @param {{server: (path: string) => string, theme: {colours: string[], ink: number}, stored: Parameters<typeof
 *   createState>[2], onChange?: (change: Partial<State>) => void, paint: (state: State) => void}} options ``stored``:
 *   the state from before a reload; ``onChange``: called with each change; ``paint``: draws the state, once a frame
 */
export function createModel(store, { server, theme, stored, onChange, paint }) {
  let state = createState(store.current, theme, stored);
  let frame = 0;
  const run = createRun({
    server,
    live: (command) => getCommandSettings(state, store.current, command),
    onChange: (view) => become({ view }),
  });
  /** @type {Page} */
  const page = {
    server,
    now: () => store.current,
    put,
    become,
    run,
    choose: store.change,
    state: () => state,
    isMine: () => run.settingsKey === getRunSettings(store.current, state.table).settingsKey,
    rename: (choice) => run.rename(getRunSettings(choice, state.table)),
  };
  const lifecycle = createLifecycle(page);
  const stop = store.subscribe(lifecycle.follow);

  /** @param {Partial<State>} change */
  function put(change) {
    state = { ...state, ...change };
  }

  /** Change the state, update the view, and do what follows from the change. @param {Partial<State>} change */
  function become(change) {
    put(change);
    run.show(listRequests(state));
    onChange?.(change);
    frame ||= requestAnimationFrame(draw);
  }

  function draw() {
    frame = 0;
    paint(state);
  }

  return {
    page,
    lifecycle,
    draw,
    destroy() {
      stop();
      lifecycle.destroy();
      cancelAnimationFrame(frame);
      run.destroy();
    },
  };
}
