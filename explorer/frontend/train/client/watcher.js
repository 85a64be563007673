// Follows a training run or a study on the server. A command shows its expected effect immediately.

import { createFeed } from "./events.js";

/** The displayed state of the work. @template S @typedef {{status: S, notice: string, lost: boolean, id: string|null}} View */

/**
 * Create a client that sends commands to a training run or study and follows its status.
 * @template {object} S
 * @param {{idle: S, address: (id: string) => string, current: () => {id: string}|null,
 *   onChange: (view: View<S>) => void, onEvent: (event: *) => void, needsWatching?: (status: S) => boolean}} options
 *   ``onEvent`` gets what the server sends, ``current`` returns the present work, ``needsWatching`` whether
 *   more events are expected
 */
export function createWatcher({ idle, address, current, onChange, onEvent, needsWatching = () => true }) {
  let view = /** @type {View<S>} */ ({ status: idle, notice: "", lost: false, id: null });
  let line = /** @type {Promise<*>} */ (Promise.resolve()); // commands are sent one after another
  let waiting = 0;
  const feed = createFeed({ address, onEvent, onLost: () => show({ lost: true }) });

  /** @param {Partial<View<S>>} next */
  function show(next) {
    view = { ...view, ...next, id: current()?.id ?? null };
    onChange(view);
  }

  /** Send a request once all earlier requests have been answered. @param {() => Promise<*>} ask */
  function inTurn(ask) {
    line = line.then(ask);
    return line;
  }

  /**
   * Show a provisional status immediately, then send a request and show the server's answer. Requests are sent one
   * after another. If several are waiting, only the answer to the last one is shown.
   * @param {Partial<S>} soon
   * @param {() => Promise<*>} ask
   */
  function act(soon, ask) {
    feed.close();
    waiting += 1;
    show({ status: { ...view.status, ...soon }, notice: "", lost: false });
    line = inTurn(ask).then((answer) => {
      waiting -= 1;
      if (answer?.message) show({ notice: answer.message });
      if (waiting) return;
      if (answer?.state) onEvent(answer);
      const work = current();
      if (!work) show({ status: idle });
      else if (needsWatching(view.status)) feed.open(work.id);
    });
  }

  return {
    get view() {
      return view;
    },
    /** Whether the server has yet to answer a command. */
    get isBusy() {
      return waiting > 0;
    },
    act,
    inTurn,
    show,
    /** Connect to the event stream of the current training run or study, if there is one. */
    open() {
      const work = current();
      if (work) feed.open(work.id);
    },
    close: feed.close,
    destroy: feed.destroy,
  };
}
