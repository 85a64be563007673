// The page Learn: the current lesson, links to the others, and presentation mode.

import { element, setAttribute, setText } from "../elements/dom.js";
import { getPathLessons, createContents } from "./contents.js";
import { createLesson } from "./screen.js";
import { getProgress } from "./memory.js";
import { createSheet } from "./sheet.js";
import { createGlossary } from "./words.js";
import { isPresenting, leaveOnEscape, onPresentingChange, setPresenting } from "../choice/presentation.js";
import { toServerUrl } from "../choice/server.js";
import { onHistoryStep } from "../choice/steps.js";

/** @import { Listed, Path } from "./contents.js" */
/**
 * All lessons, the paths through them, and explanations by term.
 * @typedef {{lessons: Listed[], paths: Path[], glossary: Object<string, string>}} Course
 */

/**
 * The screen that the page shows. ``turn`` moves by a number of slides, and returns false if they do not exist;
 * ``pick`` picks an answer.
 * @typedef {{showLinks: () => void, turn: (step: number) => boolean, pick: (index: number) => void, destroy: () =>
 *   void}} Shown
 */

const NEXT = /** @type {Object<string, number>} */ ({
  ArrowRight: 1,
  PageDown: 1,
  " ": 1,
  ArrowLeft: -1,
  PageUp: -1,
});
// Elements that handle arrow keys themselves while focused.
const TAKES_KEYS =
  "input, textarea, select, [role='slider'], dialog *, [popover], [popover] *, .chart-place *";

/**
 * Show the page Learn in an element. The address of the page names the lesson.
 * @param {HTMLElement} host @param {Course} course
 * @param {{address: (name: string) => string, instrument: *, classes?: typeof import("./together.js").classes|null}}
 *   reach ``address``: makes addresses of pages; ``instrument``: how charts reach the server; ``classes``: null without
 *   a server
 */
export function createCourse(host, { lessons, paths, glossary }, { address, instrument, classes = null }) {
  const loadLesson = (/** @type {string} */ key) => instrument.ask("lesson", { key });
  const end = new AbortController();
  const page = location.pathname;
  const queryNow = () => new URLSearchParams(location.search);
  const embedded = queryNow().has("embed");
  const terms = createGlossary(glossary);
  const body = element("div", { class: "place" });
  const togglePresenting = () => setPresenting(!isPresenting());
  const bar = createBar(lessons, {
    onGo: go,
    onGlossary: () => terms.show(),
    onPresent: togglePresenting,
    onClass: classes ? beginClass : null,
  });
  let current = /** @type {Shown|null} */ (null);
  let classScreen = /** @type {ReturnType<NonNullable<typeof classes>["create"]>|null} */ (null);
  let latest = 0;

  document.documentElement.dataset.explorer = "lesson";
  host.replaceChildren(bar.element, body, terms.element);
  setAttribute(host, "data-embedded", embedded);
  const leaveSteps = onHistoryStep((event) => {
    if (location.pathname !== page) return;
    event.stopImmediatePropagation();
    show();
  });
  const leaveClass = classes?.follow(updateClassButton);
  document.addEventListener("keydown", handleKey, { signal: end.signal });
  leaveOnEscape(end.signal);
  onPresentingChange(() => {
    update();
    current?.showLinks();
  }, end.signal);
  show();

  /** @param {Object<string, string|null>} change values by query parameter; null removes one */
  function makeAddress(change) {
    const query = queryNow();
    for (const [name, value] of Object.entries(change))
      value === null ? query.delete(name) : query.set(name, value);
    return query.size ? `${page}?${query}` : page;
  }

  /** @param {string|null} key the lesson, or null for the table of contents */
  function go(key) {
    if (classScreen?.goesOn() && key !== null) return classScreen.leads ? classScreen.ask(key) : undefined;
    return leadTo({ lesson: key, class: null });
  }

  /**
   * Change query parameters in a new history entry, and show their lesson.
   * @param {Object<string, string|null>} change values by query parameter
   */
  function leadTo(change) {
    history.pushState({}, "", makeAddress({ slide: null, ...change }));
    return show();
  }

  /** Open a class with the current lesson. If this browser leads a class already, return to it. */
  async function beginClass() {
    const ownClass = classes?.held();
    const lesson = queryNow().get("lesson") ?? getPathLessons(lessons, paths)[0].key;
    const answer = ownClass ? { id: ownClass } : await classes?.open(lesson);
    if (answer?.id) return leadTo({ class: answer.id });
    return bar.say(answer?.message ?? "");
  }

  function update() {
    host.classList.toggle("presenting", isPresenting());
    bar.show(queryNow().get("lesson"), isPresenting());
    updateClassButton();
  }

  function updateClassButton() {
    const part = classScreen && (classScreen.leads ? "leads" : "attends");
    setAttribute(host, "data-class", part);
    bar.showClass(part, Boolean(classes?.held()));
  }

  /**
   * Handle a key in presentation mode. Arrow keys and Space move within the lesson, and at its ends to the next one.
   * @param {KeyboardEvent} event
   */
  function handleKey(event) {
    const taken = event.key === " " ? `${TAKES_KEYS}, button, summary` : TAKES_KEYS;
    const busy = /** @type {Element} */ (event.target).matches(taken);
    if (busy || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "p") togglePresenting();
    if (!isPresenting()) return;
    if (/^[1-9]$/.test(event.key)) current?.pick(Number(event.key) - 1);
    const step = NEXT[event.key];
    if (!step) return;
    event.preventDefault();
    if (current?.turn(step)) return;
    const next = findNeighbour(queryNow().get("lesson"), step);
    if (next && step < 0 && classScreen?.goesOn())
      classScreen.goBack?.(next); // a key may come once too often
    else if (next) go(next.key);
  }

  async function show() {
    const isList = ["class", "lesson", "print"].every((name) => !queryNow().has(name));
    const attended = isList && classes?.attended();
    if (attended) history.replaceState(history.state, "", makeAddress({ class: attended }));
    const id = queryNow().get("class");
    if (id && classScreen?.id === id) return undefined;
    const key = queryNow().get("lesson");
    const requestId = (latest += 1);
    current?.destroy();
    current = classScreen = null;
    host.classList.remove("listing");
    if (id && classes) return showClass(id);
    update();
    if (queryNow().has("print")) return showSheet();
    if (key === null) return body.replaceChildren(createLessonList());
    body.replaceChildren(element("p", { role: "status" }, "The numbers of this lesson are being computed …"));
    current = { showLinks() {}, turn: () => true, pick() {}, destroy() {} }; // no key skips an unseen lesson
    const answer = await loadLesson(key);
    if (requestId !== latest) return undefined;
    if (!("message" in answer)) return open(answer);
    current = null;
    const canRetry = lessons.some((each) => each.key === key);
    const message = element("p", { role: "alert" }, answer.message);
    const button = canRetry ? [element("button", { onclick: show }, "Try again")] : [];
    return body.replaceChildren(element("div", {}, message, ...button, createLessonList()));
  }

  function showSheet() {
    const sheet = createSheet(lessons, {
      lesson: loadLesson,
      plotly: instrument.plotly,
      back: createLink({ print: null }, "All lessons"),
    });
    current = sheet;
    body.replaceChildren(sheet.element);
    return sheet.begin();
  }

  /** @param {string} id the class */
  function showClass(id) {
    const means = {
      ...{ lessons, load: loadLesson, build: buildScreen },
      next: (/** @type {string} */ key) => findNeighbour(key, 1),
      onLesson(/** @type {string} */ key) {
        history.replaceState(history.state, "", makeAddress({ lesson: key }));
        bar.show(key, isPresenting());
        host.scrollTo(0, 0);
      },
      onLeave: (/** @type {string|null} */ key) => leadTo({ lesson: key, class: null }),
    };
    current = classScreen = /** @type {NonNullable<typeof classes>} */ (classes).create(body, id, means);
    update();
  }

  /**
   * @param {*} record data from the server @param {import("./screen.js").Part|null} [part] the role in a class, or null
   */
  function buildScreen(record, part = null) {
    document.title = `${record.title} · Gradient explorer`;
    const surroundings = {
      ...{ address, embedded, presenting: isPresenting, instrument },
      onTerm: terms.show,
      next: () => createNextLink(record.key),
      onAgain: show,
      onLearned: update,
    };
    return createLesson(record, surroundings, part);
  }

  /** @param {*} record data from the server */
  function open(record) {
    const screen = buildScreen(record);
    current = screen;
    body.replaceChildren(screen.element);
    screen.begin();
    host.scrollTo(0, 0);
  }

  /** Create a link to the next lesson or, after the last one, to the table of contents. @param {string} key */
  function createNextLink(key) {
    const following = findNeighbour(key, 1);
    const link = following
      ? linkTo(following.key, go, `Next lesson: ${following.title}`)
      : createLink({ lesson: null }, "All lessons");
    link.className = "primary";
    return link;
  }

  /** @param {Object<string, string|null>} change @param {string} name */
  function createLink(change, name) {
    const follow = (/** @type {MouseEvent} */ event) => {
      event.preventDefault();
      leadTo({ class: null, ...change });
    };
    return element("a", { href: makeAddress(change), onclick: follow }, name);
  }

  function createLessonList() {
    host.classList.add("listing");
    const link = (/** @type {string} */ key, /** @type {Node[]} */ ...content) => linkTo(key, go, ...content);
    return createContents(lessons, paths, {
      linkTo: link,
      onTerm: terms.show,
      print: createLink({ lesson: null, print: "course" }, "Print the course"),
    });
  }

  /**
   * Return the lesson before or after another one on the reader's path, or undefined.
   * @param {string|null} key @param {number} step 1 for the lesson after it, -1 for that before it
   */
  function findNeighbour(key, step) {
    const way = getPathLessons(lessons, paths);
    const followed = way.some((lesson) => lesson.key === key) ? way : lessons;
    return followed[followed.findIndex((lesson) => lesson.key === key) + step];
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

/**
 * @param {Course["lessons"]} lessons
 * @param {{onGo: (key: string|null) => void, onGlossary: () => void, onPresent: () => void, onClass: (() => void)|null}}
 *   acts
 */
function createBar(lessons, { onGo, onGlossary, onPresent, onClass }) {
  const stage = element("button", {
    class: "to-stage",
    onclick: onPresent,
    title: "On a stage: large type, arrow keys through the story (p)",
  });
  const terms = element("button", { onclick: onGlossary }, "Glossary");
  const links = lessons.map(({ key, title }, index) => linkTo(key, leave, `${index + 1}. ${title}`));
  const list = { popover: "auto", class: "titles", role: "dialog", "aria-label": "Lessons" };
  const titles = element("div", list, ...links, linkTo(null, leave, "All lessons"));
  const openTitles = element("button", { class: "to-titles", onclick: () => titles.showPopover() });
  const status = element("span", { role: "status" });
  const code = element("input", { name: "code", required: true, maxlength: 64, autocomplete: "off" });
  const label = element("label", {}, "Code that your teacher shows ", code);
  const form = { class: "flex-wrap", action: toServerUrl("c") };
  const join = element("form", form, label, element("button", { type: "submit" }, "Join"));
  const words = "Or lead a class: it answers on phones, by a code, and this screen shows all answers.";
  const lead = element("button", { onclick: startClass }, "Lead a class");
  const ways = element("div", { class: "ways" }, join, element("p", {}, words), lead);
  const dialog = { popover: "auto", class: "class-choice", role: "dialog", "aria-label": "Class" };
  const choice = element("div", dialog, ways);
  const onChoice = () => (isHeld ? onClass?.() : choice.showPopover());
  const classButton = element("button", { onclick: onChoice, hidden: true });
  const parts = onClass ? [status, terms, classButton, choice, stage] : [terms, stage];
  let isHeld = false; // whether this browser leads a class

  function leave(/** @type {string|null} */ key) {
    titles.hidePopover();
    onGo(key);
  }

  function startClass() {
    choice.hidePopover();
    onClass?.();
  }

  return {
    element: element(
      "nav",
      { class: "bar flex-wrap", "aria-label": "Lessons" },
      openTitles,
      titles,
      ...parts,
    ),
    say: (/** @type {string} */ words) => setText(status, words),
    /**
     * @param {"leads"|"attends"|null} part this page's role in a class, or null
     * @param {boolean} held whether this browser leads a class
     */
    showClass(part, held) {
      openTitles.hidden = part === "attends";
      isHeld = held;
      setText(classButton, held ? "To the class" : "Class");
      classButton.hidden = part !== null;
    },
    /** @param {string|null} key the open lesson, or null @param {boolean} presenting */
    show(key, presenting) {
      const { learned } = getProgress();
      setText(status, "");
      const current = lessons.findIndex((lesson) => lesson.key === key);
      setText(openTitles, current < 0 ? "Lessons" : `Lesson ${current + 1} of ${lessons.length}`);
      links.forEach((link, index) => {
        const isLearned = learned.includes(lessons[index].key);
        setAttribute(link, "aria-current", index === current ? "page" : null);
        setAttribute(link, "data-learned", isLearned);
        setAttribute(link, "aria-description", isLearned && "learned");
      });
      setText(stage, presenting ? "Leave the stage (p)" : "Present (p)");
    },
  };
}

/** @param {string|null} key @param {(key: string|null) => void} onGo @param {...(Node|string)} content */
function linkTo(key, onGo, ...content) {
  const follow = (/** @type {MouseEvent} */ event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    onGo(key);
  };
  return element(
    "a",
    { href: key ? `${location.pathname}?${new URLSearchParams({ lesson: key })}` : "?", onclick: follow },
    ...content,
  );
}
