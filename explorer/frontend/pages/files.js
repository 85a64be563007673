// Files that came along with a page: a page from the disk may fetch nothing, but it may load scripts.

/** @type {Map<string, Promise<*>>} */
const loading = new Map();

/**
 * What a file holds, loaded once; rejected where it cannot be had, and tried again when it is asked for again.
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
