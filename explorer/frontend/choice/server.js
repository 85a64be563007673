// Requests to the server, beside questions about a choice.

import { saveAs } from "../elements/dom.js";

export const SILENT = "The server does not answer: try again in a moment.";
export const PATIENCE_MS = 20_000;

/** The address of something of the server. @param {string} name */
export const server = (name) => new URL(`../../../${name}`, import.meta.url).href;

/** The document with the whole catalogue. */
export async function fetchDocument() {
  return (await fetch(new URL("../document.json", import.meta.url))).json();
}

/** The options of ``fetch`` that send data. @param {*} data @returns {RequestInit} */
export function sent(data) {
  return { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(data) };
}

/**
 * The answer of the server to data that are sent; a message where it gives none.
 * @param {string} address
 * @param {*} data
 */
export function post(address, data) {
  return answered(address, sent(data));
}

/**
 * The answer of the server; a message where it gives none.
 * @param {string} address
 * @param {RequestInit} [options]
 */
export async function answered(address, options) {
  try {
    const response = await fetch(address, { ...options, signal: AbortSignal.timeout(PATIENCE_MS) });
    return await response.json();
  } catch {
    return { message: SILENT };
  }
}

/**
 * Have the browser save what the server answers to data; the sentence of a server that gives nothing.
 * @param {string} address
 * @param {*} data
 * @param {string} name of the file
 */
export async function save(address, data, name) {
  try {
    const response = await fetch(address, { ...sent(data), signal: AbortSignal.timeout(PATIENCE_MS) });
    if (!response.ok) return /** @type {string} */ ((await response.json()).message);
    const href = URL.createObjectURL(await response.blob());
    saveAs(href, name);
    setTimeout(() => URL.revokeObjectURL(href), PATIENCE_MS); // not before the browser has read it
    return "";
  } catch {
    return SILENT;
  }
}
