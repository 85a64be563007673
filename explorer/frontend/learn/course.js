// The page of lessons: the current one, the ways to the others, and presenting.

import { element, setAttribute, setText } from "../elements/dom.js";
import { createLesson } from "./screen.js";
import { createGlossary, inline } from "./words.js";
import { followSteps } from "../choice/steps.js";

/** @typedef {{key: string, title: string, question: string}} Listed a lesson */
/** @typedef {{lessons: Listed[], glossary: Object<string, string>,
 *   skeleton: string}} Course ``skeleton`` is that of a training */

const NEXT = /** @type {Object<string, number>} */ ({
  ArrowRight: 1,
  PageDown: 1,
  ArrowLeft: -1,
  PageUp: -1,
});
// They have a use for arrows.
const TAKES_KEYS = "input, textarea, select, [role='slider'], dialog *, .chart-place *";

/**
 * The course in ``host``; which lesson is current stands in the address.
 * @param {HTMLElement} host
 * @param {Course} course
 * @param {{address: (name: string) => string, lesson: (key: string) => Promise<*>, instrument: *}} reach
 *   ``address`` of a page, ``lesson`` with its numbers or a message, what the ``instrument`` reaches
 */
export function createCourse(host, { lessons, glossary, skeleton }, { address, lesson, instrument }) {
  const end = new AbortController();
  const page = location.pathname;
  const queryNow = () => new URLSearchParams(location.search);
  const embedded = queryNow().has("embed");
  const presenting = () => queryNow().has("present");
  const terms = createGlossary(glossary);
  const body = element("div", { class: "place" });
  const bar = createBar(lessons, { onGo: go, onGlossary: () => terms.show(), onPresent: present });
  let current = /** @type {ReturnType<typeof createLesson>|null} */ (null);
  let turn = 0;

  host.replaceChildren(bar.element, body, terms.element);
  setAttribute(host, "data-embedded", embedded);
  const leaveSteps = followSteps((event) => {
    if (location.pathname !== page) return;
    event.stopImmediatePropagation();
    show();
  });
  document.addEventListener("keydown", pressed, { signal: end.signal });
  show();

  /** @param {Object<string, string|null>} change of the query */
  function addressWith(change) {
    const query = queryNow();
    for (const [name, value] of Object.entries(change))
      value === null ? query.delete(name) : query.set(name, value);
    return query.size ? `${page}?${query}` : page;
  }

  /** @param {string|null} key null for the list */
  function go(key) {
    history.pushState({}, "", addressWith({ lesson: key }));
    show();
  }

  function present() {
    history.replaceState(history.state, "", addressWith({ present: presenting() ? null : "1" }));
    dress();
    current?.showLinks();
  }

  function dress() {
    host.classList.toggle("presenting", presenting());
    bar.show(queryNow().get("lesson"), presenting());
  }

  /** @param {KeyboardEvent} event */
  function pressed(event) {
    const busy = /** @type {Element} */ (event.target).matches(TAKES_KEYS);
    if (busy || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "p") present();
    if (event.key === "Escape" && presenting()) present();
    if (presenting() && NEXT[event.key] && !scrolls(event.key)) beside(NEXT[event.key], event);
  }

  /** Whether a key has something to scroll before it leads to another lesson. @param {string} key */
  function scrolls(key) {
    const below = host.scrollHeight - host.clientHeight - host.scrollTop;
    return (key === "PageDown" && below > 1) || (key === "PageUp" && host.scrollTop > 0);
  }

  /** @param {number} step @param {Event} event */
  function beside(step, event) {
    const next = lessons[lessons.findIndex(({ key }) => key === queryNow().get("lesson")) + step];
    event.preventDefault();
    if (next) go(next.key);
  }

  async function show() {
    const key = queryNow().get("lesson");
    const mine = (turn += 1);
    current?.destroy();
    current = null;
    dress();
    if (key === null) return body.replaceChildren(contents());
    body.replaceChildren(element("p", { role: "status" }, "The numbers of this lesson are being computed …"));
    const answer = await lesson(key);
    if (mine !== turn) return undefined;
    if (!("message" in answer)) return open(answer);
    const again = lessons.some((each) => each.key === key);
    return body.replaceChildren(failed(answer.message, again));
  }

  /** @param {*} record */
  function open(record) {
    document.title = `${record.title} · Gradient explorer`;
    current = createLesson(record, {
      ...{ address, embedded, presenting, skeleton, instrument },
      onTerm: terms.show,
      next: () => next(record.key),
      onAgain: show,
    });
    body.replaceChildren(current.element);
    current.begin();
    host.scrollTo(0, 0);
  }

  /** The way to what follows a lesson. @param {string} key */
  function next(key) {
    const following = lessons[lessons.findIndex((lesson) => lesson.key === key) + 1];
    if (following) return linkTo(following.key, go, `Next: ${following.title}`);
    const list = (/** @type {MouseEvent} */ event) => {
      event.preventDefault();
      go(null);
    };
    return element("a", { href: addressWith({ lesson: null }), onclick: list }, "All lessons");
  }

  function contents() {
    const entry = (/** @type {Listed} */ { key, title, question }, /** @type {number} */ index) => {
      const asked = element("span", {}, ...inline(question, terms.show));
      const link = linkTo(key, go, element("b", {}, title), asked);
      setAttribute(link, "aria-label", nameOf(title, index));
      setAttribute(link, "aria-description", asked.textContent);
      return element("li", {}, link);
    };
    return element("ol", { class: "contents" }, ...lessons.map(entry));
  }

  /** @param {string} message @param {boolean} again whether another try may help */
  function failed(message, again) {
    const button = again ? [element("button", { onclick: show }, "Try again")] : [];
    return element("div", {}, element("p", { role: "alert" }, message), ...button, contents());
  }

  return {
    destroy() {
      end.abort();
      leaveSteps();
      current?.destroy();
    },
  };
}

/** The name of a way to a lesson. @param {string} title @param {number} index */
function nameOf(title, index) {
  return `Lesson ${index + 1}: ${title}`;
}

/**
 * The bar above a lesson.
 * @param {Course["lessons"]} lessons
 * @param {{onGo: (key: string) => void, onGlossary: () => void, onPresent: () => void}} acts
 */
function createBar(lessons, { onGo, onGlossary, onPresent }) {
  const numbers = lessons.map(({ key, title }, index) => {
    const link = linkTo(key, onGo, String(index + 1));
    setAttribute(link, "title", title);
    setAttribute(link, "aria-label", nameOf(title, index));
    return link;
  });
  const list = element("ol", {}, ...numbers.map((link) => element("li", {}, link)));
  const stage = element("button", {
    onclick: onPresent,
    title: "On a stage: large type, arrow keys between lessons (p)",
  });
  const terms = element("button", { onclick: onGlossary }, "Glossary");
  return {
    element: element("nav", { class: "bar", "aria-label": "Lessons" }, list, terms, stage),
    /** @param {string|null} key @param {boolean} presenting */
    show(key, presenting) {
      numbers.forEach((link, index) =>
        setAttribute(link, "aria-current", lessons[index].key === key ? "page" : null),
      );
      setText(stage, presenting ? "Leave the stage (p)" : "Present (p)");
    },
  };
}

/**
 * A link to a lesson that stays on the page.
 * @param {string} key
 * @param {(key: string) => void} onGo
 * @param {...(Node|string)} content
 */
function linkTo(key, onGo, ...content) {
  const follow = (/** @type {MouseEvent} */ event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    onGo(key);
  };
  return element(
    "a",
    { href: `${location.pathname}?${new URLSearchParams({ lesson: key })}`, onclick: follow },
    ...content,
  );
}
