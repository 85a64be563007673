// Files that came along with a page: a page from the disk may fetch nothing, but it may load scripts.

/** @type {Map<string, Promise<*>>} */
const loading = new Map();

/**
 * The data of a file, loaded once; rejected if it cannot be loaded, and tried again at the next call.
 * @param {string} address of a script that hands over its ``data``
 */
export function loaded(address) {
  const known = loading.get(address) ?? begun(address);
  loading.set(address, known);
  return known;
}

/** @param {string} address @returns {Promise<*>} */
function begun(address) {
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
