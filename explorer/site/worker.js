// Python in a worker: entries of own formulas, by the modules that make them in the app.

/**
 * The first message holds the files, every other one a formula. Nothing is fetched: what Pyodide asks for is
 * among them.
 * @typedef {{files: Record<string, string>, packages: string, program: Record<string, string>}} Start files as
 *   base64 of gzip, and the modules of the app by their paths
 * @typedef {{number: number, kind: "op"|"rule", text: string}} Question
 */

const NOWHERE = "https://pyodide.invalid/";
const TYPES = /** @type {Record<string, string>} */ ({ wasm: "application/wasm", mjs: "text/javascript" });

/** @type {Promise<(kind: string, text: string) => string>|null} */
let reader = null;

self.onmessage = async ({ data }) => {
  const { number = 0, kind, text } = /** @type {Question} */ (data);
  try {
    reader ??= start(data);
    const read = await reader;
    self.postMessage(number ? { number, answer: JSON.parse(read(kind, text)) } : { number });
  } catch (error) {
    self.postMessage({ number, failed: String(error) });
  }
};

/** @param {Start} given @returns what gives the entry of a formula, or what is wrong with it, as JSON */
async function start({ files, packages, program }) {
  self.fetch = async (address) => {
    const name = String(address).slice(NOWHERE.length);
    const headers = { "Content-Type": typeOf(name) };
    return new Response(unpacked(files[name]), { headers });
  };
  const [{ loadPyodide }, { default: createPyodideModule }] = await Promise.all([
    import(await moduleAddress(files["pyodide.mjs"])),
    import(await moduleAddress(files["pyodide.asm.mjs"])),
  ]);
  const python = await loadPyodide({
    indexURL: NOWHERE,
    lockFileContents: packages,
    createPyodideModule,
  });
  for (const [path, text] of Object.entries(program)) {
    python.FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
    python.FS.writeFile(path, text);
  }
  return python.runPython(`
import json
from explorer.instrument.entries import own_entry
lambda kind, text: json.dumps(own_entry(kind, text))
`);
}

/** @param {string} name of a file */
function typeOf(name) {
  return TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream";
}

/** @param {string} packed base64 of gzip */
function unpacked(packed) {
  const plain = atob(packed);
  const bytes = new Uint8Array(plain.length);
  for (let place = 0; place < bytes.length; place++) bytes[place] = plain.charCodeAt(place); // megabytes
  return new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
}

/** An address that holds a module: a page from the disk may import no other. @param {string} packed */
async function moduleAddress(packed) {
  const text = await new Response(unpacked(packed)).blob();
  return new Promise((resolve, reject) => {
    const file = new FileReader();
    file.onload = () => resolve(file.result);
    file.onerror = () => reject(file.error);
    file.readAsDataURL(new Blob([text], { type: TYPES.mjs }));
  });
}
