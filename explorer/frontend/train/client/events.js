// Events of a training run or study: the server streams its status. A lost connection is renewed.

const RETRY_MS = 1000;

/**
 * Create a client that receives the status of one run or study at a time as server-sent events. It renews a lost
 * connection.
 * @param {{address: (id: string) => string, onEvent: (status: *) => void, onLost: () => void}} options ``address``:
 *   returns the address of the stream for an id; ``onEvent``: called with each status; ``onLost``: called if the
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

  /** Connect to the stream of a run or study, which begins with a complete status. @param {string} run its id */
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
