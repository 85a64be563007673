// The instrument on a page of Streamlit: what Python sends becomes the choice, what is chosen is reported.

import { followAddress, queryOf } from "./address.js";
import { setDocument } from "./entries.js";
import { createCopyButton } from "./heading.js";
import { createInstrument } from "./instrument.js";
import { createCourse } from "./lesson-course.js";
import { received } from "./message.js";
import { store } from "./store.js";
import { stayUncovered } from "./uncovered.js";

/**
 * What Streamlit calls a component with, once when it appears and again with all new data.
 * @typedef {{parentElement: HTMLElement, data: *, setStateValue: (name: string, value: *) => void}} Component
 */

const REPORT_MS = 250; // of rest, before the page below follows
const here = (/** @type {string} */ name) => new URL(name, import.meta.url).href;
const server = (/** @type {string} */ name) => new URL(`../../${name}`, import.meta.url).href;

/** @type {WeakMap<HTMLElement, () => void>} what ends each part */
const mounted = new WeakMap();
const ready = fetch(here("document.json")).then((answer) => answer.json()).then(setDocument);
stayUncovered();

/** @param {Component} component */
export async function mount(component) {
  await ready;
  const host = component.parentElement;
  const place = /** @type {HTMLElement|null} */ (host.querySelector(".instrument, .lesson"));
  if (!place) return;
  if (!mounted.has(host)) mounted.set(host, made(place, component));
}

/** @param {HTMLElement} place @param {Component} component */
function made(place, component) {
  if (place.matches(".heading")) return heading(place);
  return place.matches(".lesson") ? lessons(place, component) : page(place, component);
}

/** @param {HTMLElement} host */
export function unmount(host) {
  mounted.get(host)?.();
  mounted.delete(host);
}

/** @param {HTMLElement} place */
function heading(place) {
  return createCopyButton(/** @type {HTMLElement} */ (place.querySelector(".copy"))).destroy;
}

/** @param {HTMLElement} place @param {Component} component */
function lessons(place, { data }) {
  const instrument = { ...reachOf(data), server, readCode: null, save: null, sections: {}, examples: [] };
  return createCourse(place, data.course, { address: server, instrument }).destroy;
}

/** What every instrument of a server reaches. @param {*} data */
function reachOf(data) {
  return { plotly: server(`assets/${data.plotly}`), confirm: server("confirm"), read: readFormula };
}

/** @param {HTMLElement} place @param {Component} component */
function page(place, { data, setStateValue }) {
  const first = received(data.choice);
  const known = store.choice;
  let timer = 0;
  if (!known) store.change(first, { origin: "start" });
  const instrument = createInstrument(place, store, {
    ...reachOf(data),
    readCode,
    save: server("save"),
    server,
    sections: data.sections,
    examples: data.examples.map((/** @type {*} */ example) => ({ ...example, choice: received(example.choice) })),
  });
  const leaveAddress = followAddress(store);
  place.classList.toggle("framed", new URLSearchParams(location.search).has("embed"));
  let said = queryOf(first);
  const stop = store.subscribe((_choice, { phase }) => {
    clearTimeout(timer);
    if (phase === "settled" && !place.matches(".training")) timer = setTimeout(report, REPORT_MS);
  });
  store.change({ .../** @type {*} */ (store.choice) }, { origin: "start" });

  function report() {
    const query = queryOf(/** @type {*} */ (store.choice));
    if (query !== said) setStateValue("report", { query });
    said = query;
  }

  return () => {
    clearTimeout(timer);
    stop();
    leaveAddress();
    instrument.destroy();
  };
}

/** An own formula as the server reads it; null where it does not answer. @param {"op"|"rule"} kind @param {string} text */
async function readFormula(kind, text) {
  const found = await asked(`entry?${new URLSearchParams({ kind, text })}`);
  return found?.entry || typeof found?.message === "string" ? found : null;
}

/** What the server finds in pasted code. @param {string} body */
async function readCode(body) {
  const found = await asked("read", { method: "POST", body });
  return Array.isArray(found?.found) || typeof found?.message === "string" ? found : { message: "The server does not answer: type on to try again." };
}

/** The server's answer; null where there is none. @param {string} path @param {RequestInit} [options] */
async function asked(path, options) {
  try {
    return await (await fetch(server(path), options)).json();
  } catch {
    return null;
  }
}
