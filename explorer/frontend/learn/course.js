// The page of lessons: the current one, the ways to the others, and presenting.

import { element, setAttribute, setText } from "../elements/dom.js";
import { chosenLessons, createContents } from "./contents.js";
import { createLesson } from "./screen.js";
import { createSheet } from "./sheet.js";
import { createGlossary } from "./words.js";
import { isPresenting, setPresenting } from "../choice/presentation.js";
import { onHistoryStep } from "../choice/steps.js";

/** @import { Listed, Path } from "./contents.js" */
/** @typedef {{lessons: Listed[], paths: Path[], glossary: Object<string, string>,
 *   skeleton: string}} Course ``skeleton`` is that of a training */

/**
 * A lesson on the page: ``turn`` goes on, or back, by a slide, and says whether there was one.
 * @typedef {{showLinks: () => void, turn: (step: number) => boolean, pick: (index: number) => void,
 *   destroy: () => void}} Shown
 */

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
 * @param {{address: (name: string) => string, instrument: *,
 *   classes?: typeof import("./together.js").classes|null}} reach ``address`` of a page, what the ``instrument``
 *   reaches, ``classes`` where a server has them
 */
export function createCourse(
  host,
  { lessons, paths, glossary, skeleton },
  { address, instrument, classes = null },
) {
  const lesson = (/** @type {string} */ key) => instrument.ask("lesson", { key });
  const end = new AbortController();
  const page = location.pathname;
  const queryNow = () => new URLSearchParams(location.search);
  const embedded = queryNow().has("embed");
  const terms = createGlossary(glossary);
  const body = element("div", { class: "place" });
  const onClass = classes ? beginClass : null;
  const bar = createBar(lessons, { onGo: go, onGlossary: () => terms.show(), onPresent: turnStage, onClass });
  let current = /** @type {Shown|null} */ (null);
  let together = /** @type {ReturnType<NonNullable<typeof classes>["create"]>|null} */ (null);
  let turn = 0;
  let isOpening = false; // a class: one press opens one

  host.replaceChildren(bar.element, body, terms.element);
  setAttribute(host, "data-embedded", embedded);
  const leaveSteps = onHistoryStep((event) => {
    if (location.pathname !== page) return;
    event.stopImmediatePropagation();
    show();
  });
  const leaveClass = classes?.follow(dressClass);
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
    if (together?.goesOn() && key !== null) return together.leads ? together.ask(key) : undefined;
    return leadTo({ lesson: key, class: null });
  }

  /** @param {Object<string, string|null>} change of the query */
  function leadTo(change) {
    history.pushState({}, "", addressWith(change));
    return show();
  }

  /** Open a class on this lesson, or go to the one that is open. */
  async function beginClass() {
    if (isOpening) return undefined;
    isOpening = true;
    const held = classes?.held();
    const answer = held ? { id: held } : await classes?.open(queryNow().get("lesson") ?? "");
    isOpening = false;
    if (answer?.id) return leadTo({ class: answer.id });
    return bar.say(answer?.message ?? "");
  }

  function turnStage() {
    setPresenting(!isPresenting());
    dress();
    current?.showLinks();
  }

  function dress() {
    host.classList.toggle("presenting", isPresenting());
    bar.show(queryNow().get("lesson"), isPresenting());
    dressClass();
  }

  function dressClass() {
    bar.showClass(together && (together.leads ? "leads" : "attends"), Boolean(classes?.held()));
  }

  /** @param {KeyboardEvent} event */
  function pressed(event) {
    const busy = /** @type {Element} */ (event.target).matches(TAKES_KEYS);
    if (busy || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "p" || (event.key === "Escape" && isPresenting())) turnStage();
    if (!isPresenting()) return;
    if (/^[1-9]$/.test(event.key)) current?.pick(Number(event.key) - 1);
    const step = NEXT[event.key];
    if (!step) return;
    if (event.key.startsWith("Page") && current?.turn(step)) event.preventDefault();
    else beside(step, event);
  }

  /** @param {number} step @param {Event} event */
  function beside(step, event) {
    const next = stepped(queryNow().get("lesson"), step);
    event.preventDefault();
    if (next) go(next.key);
  }

  async function show() {
    const id = queryNow().get("class");
    if (id && together?.id === id) return undefined;
    const key = queryNow().get("lesson");
    const mine = (turn += 1);
    current?.destroy();
    current = together = null;
    if (id && classes) return showClass(id);
    dress();
    if (queryNow().has("print")) return showSheet();
    if (key === null) return body.replaceChildren(contents());
    body.replaceChildren(element("p", { role: "status" }, "The numbers of this lesson are being computed …"));
    const answer = await lesson(key);
    if (mine !== turn) return undefined;
    if (!("message" in answer)) return open(answer);
    const again = lessons.some((each) => each.key === key);
    return body.replaceChildren(failed(answer.message, again));
  }

  /** Show the course on paper. */
  function showSheet() {
    const sheet = createSheet(lessons, {
      lesson,
      plotly: instrument.plotly,
      back: way({ print: null }, "All lessons"),
    });
    current = sheet;
    body.replaceChildren(sheet.element);
    return sheet.begin();
  }

  /** @param {string} id */
  function showClass(id) {
    const means = {
      ...{ lessons, load: lesson, build },
      onLesson(/** @type {string} */ key) {
        history.replaceState(history.state, "", addressWith({ lesson: key }));
        bar.show(key, isPresenting());
        host.scrollTo(0, 0);
      },
      onLeave: (/** @type {string|null} */ key) => leadTo({ lesson: key, class: null }),
    };
    current = together = /** @type {NonNullable<typeof classes>} */ (classes).create(body, id, means);
    dress();
  }

  /** The screen of a lesson. @param {*} record @param {import("./screen.js").Part|null} [part] in a class */
  function build(record, part = null) {
    document.title = `${record.title} · Gradient explorer`;
    const around = {
      ...{ address, embedded, presenting: isPresenting, skeleton, instrument },
      onTerm: terms.show,
      next: () => next(record.key),
      onAgain: show,
    };
    return createLesson(record, around, part);
  }

  /** @param {*} record */
  function open(record) {
    const screen = build(record);
    current = screen;
    body.replaceChildren(screen.element);
    screen.begin();
    host.scrollTo(0, 0);
  }

  /** The way to what follows a lesson. @param {string} key */
  function next(key) {
    const following = stepped(key, 1);
    if (following) return linkTo(following.key, go, `Next: ${following.title}`);
    return way({ lesson: null }, "All lessons");
  }

  /** A link that stays on the page. @param {Object<string, string|null>} change of the query @param {string} name */
  function way(change, name) {
    const follow = (/** @type {MouseEvent} */ event) => {
      event.preventDefault();
      leadTo({ class: null, ...change });
    };
    return element("a", { href: addressWith(change), onclick: follow }, name);
  }

  function contents() {
    const link = (/** @type {string} */ key, /** @type {Node[]} */ ...content) => linkTo(key, go, ...content);
    return createContents(lessons, paths, {
      linkTo: link,
      onTerm: terms.show,
      print: way({ lesson: null, print: "course" }, "Print the course"),
    });
  }

  /** The lesson so many steps from another, along the path that the reader follows. @param {string|null} key @param {number} step */
  function stepped(key, step) {
    const way = chosenLessons(lessons, paths);
    const followed = way.some((lesson) => lesson.key === key) ? way : lessons;
    return followed[followed.findIndex((lesson) => lesson.key === key) + step];
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
      leaveClass?.();
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
 * @param {{onGo: (key: string) => void, onGlossary: () => void, onPresent: () => void,
 *   onClass: (() => void)|null}} acts
 */
function createBar(lessons, { onGo, onGlossary, onPresent, onClass }) {
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
  const said = element("span", { role: "status" });
  const title = "A class predicts this lesson together: a code for their phones, all drawings on this screen";
  const together = element("button", { onclick: onClass, title, hidden: true });
  const parts = onClass ? [said, terms, together, stage] : [terms, stage];
  return {
    element: element("nav", { class: "bar", "aria-label": "Lessons" }, list, ...parts),
    say: (/** @type {string} */ words) => setText(said, words),
    /**
     * The button of a class, where a lesson is shown alone.
     * @param {"leads"|"attends"|null} part of this page in a class
     * @param {boolean} held whether this browser leads one
     */
    showClass(part, held) {
      list.hidden = part === "attends";
      setText(together, held ? "To the class" : "Class");
      together.hidden = part !== null || !numbers.some((link) => link.matches("[aria-current]"));
    },
    /** @param {string|null} key @param {boolean} presenting */
    show(key, presenting) {
      setText(said, "");
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
