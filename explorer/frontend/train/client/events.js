// Streams status events of a training run or a study from the server, and reconnects when the connection is lost.

const RETRY_MS = 1000;

/**
 * Create a client that streams the server's status events of one training run or study at a time.
 * @param {{address: (id: string) => string, onEvent: (status: *) => void, onLost: () => void}} options ``address``
 *   returns the address of the events for an id, ``onEvent`` gets each status, ``onLost`` is called when the
 *   connection is lost
 */
export function createFeed({ address, onEvent, onLost }) {
  /** @type {EventSource|null} */
  let source = null;
  /** @type {string|null} */
  let watched = null;
  let timer = 0;
  const end = new AbortController();
  addEventListener("offline", () => watched && handleLoss(), { signal: end.signal });
  addEventListener("online", () => watched && open(watched), { signal: end.signal });

  /** Connect to the event stream of a run or study, which starts with its full status. @param {string} run its id */
  function open(run) {
    close();
    watched = run;
    source = new EventSource(address(run));
    source.onmessage = (message) => onEvent(JSON.parse(message.data));
    source.onerror = handleLoss;
  }

  function handleLoss() {
    const run = /** @type {string} */ (watched);
    close();
    watched = run;
    timer = setTimeout(() => open(run), RETRY_MS);
    onLost();
  }

  function close() {
    clearTimeout(timer);
    source?.close();
    source = watched = null;
  }

  return {
    open,
    close,
    destroy() {
      end.abort();
      close();
    },
  };
}
