// A client of a training run or study: it sends commands, shows their expected effect at once, and follows the status.

import { createFeed } from "./events.js";

/**
 * The displayed state of a run or study. ``notice``: why the last action failed, or ""; ``lost``: whether the
 * connection is interrupted.
 * @template S @typedef {{status: S, notice: string, lost: boolean, id: string|null}} View
 */

/**
 * Create a client that sends commands to a run or study and follows its status.
 * @template {object} S
 * @param {{idle: S, address: (id: string) => string, current: () => {id: string}|null, onChange: (view: View<S>) =>
 *   void, onEvent: (event: *) => void, needsWatching?: (status: S) => boolean}} options ``idle``: the status without a
 *   run or study; ``address``: returns the address of the event stream for an id; ``current``: returns the present run
 *   or study; ``onEvent``: handles an event; ``needsWatching``: whether a status can still change
 */
export function createWatcher({ idle, address, current, onChange, onEvent, needsWatching = () => true }) {
  let view = /** @type {View<S>} */ ({ status: idle, notice: "", lost: false, id: null });
  let line = /** @type {Promise<*>} */ (Promise.resolve()); // settled once all commands so far are answered
  let waiting = 0;
  const feed = createFeed({ address, onEvent, onLost: () => show({ lost: true }) });

  /** @param {Partial<View<S>>} next */
  function show(next) {
    view = { ...view, ...next, id: current()?.id ?? null };
    onChange(view);
  }

  /** Send a request after all earlier ones. Resolves to its answer. @param {() => Promise<*>} ask sends it */
  function inTurn(ask) {
    line = line.then(ask);
    return line;
  }

  /**
   * Show the expected status at once, then send a request and show the server's answer. Requests are sent one after the
   * other; if several wait, only the answer to the last one is shown. Resolves to the answer.
   * @param {Partial<S>} soon the expected status @param {() => Promise<*>} ask sends the request
   */
  function act(soon, ask) {
    feed.close();
    waiting += 1;
    show({ status: { ...view.status, ...soon }, notice: "", lost: false });
    line = inTurn(ask).then((answer) => {
      waiting -= 1;
      if (answer?.message) show({ notice: answer.message });
      if (waiting) return answer;
      if (answer?.state) onEvent(answer);
      const work = current();
      if (!work) show({ status: idle });
      else if (needsWatching(view.status)) feed.open(work.id);
      return answer;
    });
    return line;
  }

  return {
    get view() {
      return view;
    },
    /** Whether a command has not been answered yet. */
    get isBusy() {
      return waiting > 0;
    },
    act,
    inTurn,
    show,
    open() {
      const work = current();
      if (work) feed.open(work.id);
    },
    close: feed.close,
    destroy: feed.destroy,
  };
}
