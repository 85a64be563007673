// Data files of a page. They are scripts, because a page opened from disk cannot fetch.

/** @type {Map<string, Promise<*>>} */
const loading = new Map();

/**
 * Load a script file once. Resolves to its data. Rejects if it cannot be loaded; the next call tries again.
 * @param {string} address address of a script that sets its ``data``
 */
export function loadFile(address) {
  const promise = loading.get(address) ?? loadScript(address);
  loading.set(address, promise);
  return promise;
}

/** Add a script to the page. Resolves to the data that it sets. @param {string} address @returns {Promise<*>} */
function loadScript(address) {
  return new Promise((resolve, reject) => {
    const script = /** @type {HTMLScriptElement & {data: *}} */ (document.createElement("script"));
    script.onload = () => {
      script.remove();
      resolve(script.data);
    };
    script.onerror = () => {
      script.remove();
      loading.delete(address);
      reject(new Error(`${address} could not be loaded`));
    };
    script.src = address;
    document.head.append(script);
  });
}
