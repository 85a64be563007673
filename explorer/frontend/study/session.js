// Commands to the study of this browser tab. The page shows the expected effect of a command at once.

import { postJson } from "../choice/server.js";
import { saveInSession, loadFromSession, getOwner } from "../choice/session.js";
import { createWatcher } from "../train/client/watcher.js";
import { ACTIVE, IDLE } from "./state.js";

/** @import { View } from "./state.js" */
/**
 * A request to start a study: the settings as a query, and the user's table of data, which no link contains.
 * @typedef {{query: string, table: import("../train/state/own-table.js").OwnTable|null}} Order
 */

// states with an open event stream, which keeps a study alive
const WATCHED_STATES = [...ACTIVE, "paused", "finished", "silent"];

/**
 * Create a client that starts, controls and follows the study of this tab.
 * @param {{server: (path: string) => string, onChange: (view: View) => void}} options ``onChange``: called with each
 *   new state
 */
export function createSession({ server, onChange }) {
  let study = loadFromSession("study");
  const watched = createWatcher({
    idle: IDLE,
    address: (id) => server(`studies/${id}/events`),
    current: () => study,
    onChange,
    onEvent,
  });
  const { act } = watched;

  /** Handle an event of the study's stream. @param {import("../train/state/records.js").StudyEvent} event */
  function onEvent(event) {
    const { status: last, lost, notice } = watched.view;
    const status = { ...IDLE, ...event, results: event.results ?? last.results };
    watched.show({ status, notice: lost ? "" : notice, lost: false });
    if (!WATCHED_STATES.includes(status.state)) watched.close();
  }

  /** @param {string} name */
  async function sendCommand(name) {
    return study && postJson(server(`studies/${study.id}/${name}`), { key: study.key });
  }

  /** @param {Order} order */
  async function requestStart({ query, table }) {
    const answer = await postJson(server("studies"), {
      query,
      owner: getOwner(),
      ...(table !== null && { table }),
    });
    if (answer.id) remember(answer);
    return answer;
  }

  /**
   * Store which study this tab displays, also for a reload of the page.
   * @param {{id: string, key: string}|null} next null for none
   */
  function remember(next) {
    study = next;
    saveInSession("study", next);
  }

  return {
    /** Connect to the study that was started before a reload of the page. */
    watch: watched.open,
    /** @param {Order} order */
    begin(order) {
      act({ ...IDLE, state: "running", sentence: "Starting." }, () => {
        remember(null);
        return requestStart(order);
      });
    },
    stop: () => act({ state: "paused", sentence: "Stopping." }, () => sendCommand("pause")),
    resume: () => act({ state: "running", sentence: "Resuming." }, () => sendCommand("resume")),
    /** Stop the study on the server, and forget it. */
    drop: () =>
      act(IDLE, async () => {
        await sendCommand("stop");
        remember(null);
      }),
    destroy: watched.destroy,
  };
}
