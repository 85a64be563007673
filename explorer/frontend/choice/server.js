// Requests to the Python server, other than questions about curves.

import { saveBlob } from "../elements/dom.js";

export const SILENT_TEXT = "The server does not answer: try again in a moment.";
export const TIMEOUT_MS = 20_000;

/** Return the URL of a route of the server. @param {string} name */
export const toServerUrl = (name) => new URL(`../../../${name}`, import.meta.url).href;

/** Return the options of ``fetch`` for a POST request with a JSON body. @param {*} data @returns {RequestInit} */
export function toPostOptions(data) {
  return { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(data) };
}

/**
 * Send a POST request with a JSON body. Resolves to the parsed response, or to an object with a ``message`` on failure.
 * @param {string} address @param {*} data
 */
export function postJson(address, data) {
  return requestJson(address, toPostOptions(data));
}

/**
 * Send a request to the server. Resolves to the parsed response, or to an object with a ``message`` on failure.
 * @param {string} address @param {RequestInit} [options]
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
 * Send a POST request and save the response as a file. Resolves to "", or to an error message.
 * @param {string} address @param {*} data @param {string} name name of the file
 */
export async function downloadAnswer(address, data, name) {
  try {
    const response = await fetch(address, {
      ...toPostOptions(data),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!response.ok) return /** @type {string} */ ((await response.json()).message);
    saveBlob(await response.blob(), name);
    return "";
  } catch {
    return SILENT_TEXT;
  }
}
