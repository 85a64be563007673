// Requests to the server, beside those for torch's curves.

import { saveAs } from "../elements/dom.js";

const SILENT = "The server does not answer: try again in a moment.";
const PATIENCE_MS = 20_000;

/** The address of something of the server. @param {string} name */
export const server = (name) => new URL(`../../../${name}`, import.meta.url).href;

/** The document with the whole catalogue. */
export async function fetchDocument() {
  return (await fetch(new URL("../document.json", import.meta.url))).json();
}

/**
 * An own formula as the server reads it; null where it does not answer.
 * @param {"op"|"rule"|"loss"} kind
 * @param {string} text
 */
export async function readFormula(kind, text) {
  const answer = await answerOf(`entry?${new URLSearchParams({ kind, text })}`);
  return answer?.entry || typeof answer?.message === "string" ? answer : null;
}

/** The readings of pasted code. @param {string} code */
export async function readCode(code) {
  const answer = await answerOf("read", sent({ code }));
  return Array.isArray(answer?.readings) || typeof answer?.message === "string"
    ? answer
    : { message: "The server does not answer: type on to try again." };
}

/**
 * The verdict on code as a solution of an exercise; a message where none comes.
 * @param {{key: string}} exercise
 * @param {string} code
 */
export function judgeCode({ key }, code) {
  return post(server("judge"), { exercise: key, code });
}

/**
 * The lines on a rule; null if the server does not answer in time.
 * @param {"checks"|"neighbours"|"row"} what
 * @param {string} query of a choice with this rule alone
 */
export async function readLines(what, query) {
  const answer = await answerOf(`${what}?${query}`, { signal: AbortSignal.timeout(PATIENCE_MS) });
  return Array.isArray(answer?.lines) || typeof answer?.message === "string" ? answer : null;
}

/** A lesson with its numbers, which the first visitor waits for; a message where none comes. @param {string} key */
export async function readLesson(key) {
  const answer = await answerOf(`lesson?${new URLSearchParams({ key })}`);
  return answer ?? { message: "The server does not answer." };
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

/** The server's answer; null where there is none. @param {string} path @param {RequestInit} [options] */
async function answerOf(path, options) {
  try {
    return await (await fetch(server(path), options)).json();
  } catch {
    return null;
  }
}
