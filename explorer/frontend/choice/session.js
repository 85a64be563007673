// Storage of JSON values in the browser: session storage survives a reload, local storage also later visits. If the
// browser's storage is full or blocked, values last as long as the page.

/** A storage of the browser. @typedef {"sessionStorage"|"localStorage"} Kind */

const PREFIX = "gradient-explorer.";
const memory = /** @type {Map<string, string>} */ (new Map()); // values that the browser's storage rejected

/** Return a value from the browser's session storage, or null if there is none. @param {string} name */
export const loadFromSession = (name) => read("sessionStorage", name);

/** Store a value in the browser's session storage. @param {string} name @param {*} value JSON data */
export const saveInSession = (name, value) => write("sessionStorage", name, value);

/** Return a value from the browser's local storage, or null if there is none. @param {string} name */
export const loadFromBrowser = (name) => read("localStorage", name);

/** Store a value in the browser's local storage. @param {string} name @param {*} value JSON data */
export const saveInBrowser = (name, value) => write("localStorage", name, value);

/** Remove all session values whose names begin with ``start``. @param {string} start */
export function removeFromSession(start) {
  for (const name of [...memory.keys()]) if (name.startsWith(start)) memory.delete(name);
  tryStorage("sessionStorage", (storage) => {
    for (const name of Object.keys(storage)) if (name.startsWith(PREFIX + start)) storage.removeItem(name);
  });
}

/** Have the Train page start a run the next time it opens. */
export const requestTraining = () => saveInSession("start", true);

/** Return whether the Train page should start a run now, and clear the request. @returns {boolean} */
export function takeTrainingRequest() {
  const isRequested = loadFromSession("start") === true;
  if (isRequested) saveInSession("start", false);
  return isRequested;
}

/** @param {Kind} kind @param {string} name */
function read(kind, name) {
  const text = memory.get(name) ?? tryStorage(kind, (storage) => storage.getItem(PREFIX + name));
  try {
    return JSON.parse(text ?? "null");
  } catch {
    return null; // something else wrote it: not valid JSON
  }
}

/**
 * Store a value in session or local storage, or in memory if the storage does not accept it.
 * @param {Kind} kind @param {string} name @param {*} value
 */
function write(kind, name, value) {
  const text = JSON.stringify(value);
  memory.set(name, text);
  tryStorage(kind, (storage) => {
    storage.setItem(PREFIX + name, text);
    memory.delete(name);
  });
}

/**
 * Call a function with session or local storage, and return its result: undefined if that is blocked or full.
 * @template T @param {Kind} kind @param {(storage: Storage) => T} act
 */
function tryStorage(kind, act) {
  try {
    return act(globalThis[kind]);
  } catch {
    return undefined;
  }
}

/** Return the random id of this tab, by which the server recognises its runs and studies. @returns {string} */
export function getOwner() {
  const stored = loadFromSession("owner");
  if (stored) return stored;
  const created = [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
  saveInSession("owner", created);
  return created;
}
