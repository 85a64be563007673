// Values that outlive a reload of the page, in the session storage, or the visit, in the local one. A frame on another
// site may have none: then they last as long as the page.

const PREFIX = "gradient-explorer.";
const memory = /** @type {Map<string, string>} */ (new Map());

/** The value stored under a name; null if there is none. @param {string} name */
export function load(name) {
  const text = storage()?.getItem(PREFIX + name) ?? memory.get(name);
  return JSON.parse(text ?? "null");
}

/** @param {string} name @param {*} value as JSON has it */
export function keep(name, value) {
  const text = JSON.stringify(value);
  memory.set(name, text);
  storage()?.setItem(PREFIX + name, text);
}

/** The value that this browser remembers under a name from visit to visit; null if there is none. @param {string} name */
export function recall(name) {
  return JSON.parse(storage("localStorage")?.getItem(PREFIX + name) ?? memory.get(name) ?? "null");
}

/** @param {string} name @param {*} value as JSON has it */
export function remember(name, value) {
  memory.set(name, JSON.stringify(value));
  storage("localStorage")?.setItem(PREFIX + name, JSON.stringify(value));
}

/** The browser's storage; null where it may not be looked at. @param {"sessionStorage"|"localStorage"} kind */
function storage(kind = "sessionStorage") {
  try {
    return window[kind];
  } catch {
    return null;
  }
}

/** This session's name, so that it has one active run and one study. @returns {string} */
export function owner() {
  const known = load("owner");
  if (known) return known;
  const made = [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
  keep("owner", made);
  return made;
}
