// Requests to the server, except those for torch's curves.

import { saveAs } from "../elements/dom.js";

export const SILENT_TEXT = "The server does not answer: try again in a moment.";
export const TIMEOUT_MS = 20_000;

/** Return the URL of a route of the server. @param {string} name */
export const toServerUrl = (name) => new URL(`../../../${name}`, import.meta.url).href;

/** Fetch the document with the complete catalogue. */
export async function fetchDocument() {
  return (await fetch(new URL("../document.json", import.meta.url))).json();
}

/** Return the ``fetch`` options for posting data as JSON. @param {*} data @returns {RequestInit} */
export function toPostOptions(data) {
  return { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(data) };
}

/** Post data and return the server's answer, or a message. @param {string} address @param {*} data */
export function postJson(address, data) {
  return requestJson(address, toPostOptions(data));
}

/**
 * Send a request and return the server's answer, or a message.
 * @param {string} address
 * @param {RequestInit} [options]
 */
export async function requestJson(address, options) {
  try {
    const response = await fetch(address, { ...options, signal: AbortSignal.timeout(TIMEOUT_MS) });
    return await response.json();
  } catch {
    return { message: SILENT_TEXT };
  }
}

/**
 * Post data and save the answer as a file; return the server's message in case of an error, otherwise "".
 * @param {string} address
 * @param {*} data
 * @param {string} name of the file
 */
export async function downloadAnswer(address, data, name) {
  try {
    const response = await fetch(address, {
      ...toPostOptions(data),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!response.ok) return /** @type {string} */ ((await response.json()).message);
    const href = URL.createObjectURL(await response.blob());
    saveAs(href, name);
    setTimeout(() => URL.revokeObjectURL(href), TIMEOUT_MS); // late enough for the browser to read it
    return "";
  } catch {
    return SILENT_TEXT;
  }
}
