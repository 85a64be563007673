// The screen of a lesson: first the question with the reader's prediction, then the answer, text and live charts.

import { getEntries } from "../choice/choice.js";
import { getSlide, onPresentingChange, setSlide } from "../choice/presentation.js";
import { createExercise } from "../editor/exercise.js";
import { element, setAttribute, setText } from "../elements/dom.js";
import { createExcerpt, createFullCode } from "./code.js";
import { createForecast } from "./forecast.js";
import { EMPTY_STATE, recall, remember } from "./memory.js";
import { createPictures } from "./pictures/pictures.js";
import { createRetest } from "./retest.js";
import { createHosts, createLinks, createNetStore, describeNet, followChart } from "./scenes.js";
import { getCurveScenes, showNet, showScene } from "./scenes.js";
import { describeOutcome, describeSent, UNSENT_TEXT } from "./verdict.js";
import { renderInline, renderParagraphs } from "./words.js";
import { parseMessage } from "../choice/message.js";

const RESULT_START = "After the run:"; // of a paragraph that is shown below a net once it is trained
const PICTURES_START = /^(In the pictures?\b|Press )/; // of the paragraph that is shown with the pictures

/**
 * Functions of the page around a lesson. ``address``: makes addresses; ``onTerm``: opens the glossary; ``next``:
 * creates a link to the next lesson; ``onAgain``: reopens this lesson; ``onLearned``: called when both questions at its
 * end are answered; ``instrument``: how charts reach the server.
 * @typedef {{address: (name: string) => string, embedded: boolean, presenting: () => boolean, onTerm:
 *   import("./words.js").OnTerm, next: () => HTMLElement, onAgain: () => void, onLearned: () => void, instrument: *}}
 *   Surroundings
 */

/**
 * The reader's role in a class, where the teacher reveals the answer. ``memory``: storage key of the prediction, or
 * null; ``form``: creates a replacement for the form, and a layer over the first chart; ``send``: sends the prediction,
 * and resolves to why it was refused, or ""; ``conclude``: reveals the answer to the class, null for students.
 * @typedef {{memory: string|null, form: ((forecast: import("./forecast.js").Forecast) => {element: HTMLElement, layer:
 *   Layer|null})|null, send: ((prediction: {picked: number|null, drawn: (number|null)[]|null}) =>
 *   Promise<string>)|null, conclude: (() => *)|null}} Part
 * @typedef {import("./scenes.js").Layer} Layer a layer over a chart
 */

/**
 * Create the screen of a lesson.
 * @param {*} lesson the lesson's data from the server @param {Surroundings} around
 * @param {Part|null} [part] the reader's role in a class, or null
 */
export function createLesson(lesson, around, part = null) {
  const end = new AbortController();
  const memory = part ? part.memory : lesson.key;
  const state = { ...(memory ? recall(memory) : EMPTY_STATE), ...(part && { revealed: null }) };
  const [first] = getCurveScenes(lesson.scenes);
  const forecast = createForecast(lesson.prediction, parseMessage(first.choice), {
    onTerm: around.onTerm,
    ...(part && { decide: "Send my prediction" }),
    onCheck: part ? () => (sending = send()) : check,
    onSkip: part ? null : () => conclude("shown"),
    onChange() {
      sending = null;
      keep({ ...forecast.saved(), missed: false });
      // A class would take a marked line for the answer, and a message may be about the previous prediction.
      if (part) answer(hasSent ? UNSENT_TEXT : "");
      else excerpt?.light();
    },
  });
  const excerpt = lesson.excerpt && createExcerpt(lesson.excerpt);
  const place = part?.form?.(forecast) ?? { element: forecast.element, layer: forecast.drawing };
  const watch = createHosts();
  const createParagraph = (/** @type {string} */ name, /** @type {string} */ words) =>
    element("p", { class: name }, ...renderInline(words, around.onTerm));
  const verdict = element("p", { class: "verdict", role: "status" });
  const title = element("h2", { tabindex: -1, class: "title" }, lesson.title);
  const head = element(
    "header",
    {},
    title,
    createParagraph("question", lesson.question),
    createParagraph("ask", lesson.prediction.ask),
    verdict,
  );
  const text = element("div", { class: "text" }, place.element);
  const screen = element(
    "article",
    { class: `screen predicting ${excerpt ? "with-code" : ""} ${forecast.draws ? "to-draw" : ""}` },
    element("div", { class: "left" }, head, text),
    element("div", { class: "right" }, ...(excerpt ? [excerpt.element] : []), watch),
  );
  const links = createLinks(lesson.scenes, around);
  let current = /** @type {ReturnType<typeof showScene>|null} */ (null);
  let hasSent = false; // whether the class has a prediction of this student
  let sending = /** @type {Promise<void>|null} */ (null); // until the prediction on the screen is taken or refused
  let exerciseStore = /** @type {import("./scenes.js").Store|null} */ (null); // of the exercise's chart, while shown
  let exercise = /** @type {{choice: *, layer: Layer}|null} */ (null); // what that chart shows, once it is begun
  let pictures = /** @type {ReturnType<typeof createPictures>|null} */ (null);
  let curveButtons = /** @type {{scene: import("./scenes.js").Scene|null, button: HTMLElement}[]} */ ([]);
  let nets = /** @type {import("./scenes.js").Store[]} */ ([]);
  let results = /** @type {HTMLElement[]} */ ([]); // paragraphs about a net, shown after its training
  const slides = createSlides((name) => setAttribute(screen, "data-slide", name));
  showChart(forecast.draws);

  // The screen says whether there is a chart: with ``:has()`` each label on it would restyle the screen.
  function showChart(/** @type {boolean} */ isShown) {
    watch.hidden = !isShown;
    screen.classList.toggle("with-chart", isShown);
  }

  /** @param {Partial<import("./memory.js").State>} change */
  function keep(change) {
    Object.assign(state, change);
    if (memory) remember(memory, state);
  }

  /** Reveal the answer if the prediction is right. Otherwise show a reply, and let the reader try again. */
  function check() {
    const { right, words } = forecast.checked();
    if (right) return conclude("checked");
    answer(excerpt ? `${words} See the marked line.` : words);
    forecast.missed();
    keep({ ...forecast.saved(), missed: true });
    if (watch.hidden && lesson.prediction.thumbnails) {
      showChart(true);
      show(first);
    }
    return undefined;
  }

  async function send() {
    const prediction = forecast.saved();
    keep({ ...prediction, missed: true });
    forecast.rest(true);
    const refusal = await part?.send?.(prediction);
    if (!state.missed) return; // changed while it was being sent
    if (!refusal) return confirmSent();
    keep({ missed: false });
    answer(refusal);
    forecast.rest(false);
  }

  /** Tell a student that the class has the prediction. */
  function confirmSent() {
    hasSent = true;
    answer(describeSent(forecast.describe()));
    forecast.rest(true, "Sent");
  }

  /** @param {string} words */
  function answer(words) {
    verdict.replaceChildren(...renderInline(words, around.onTerm));
    forecast.drawing.markSent(!part || state.missed);
    screen.classList.toggle("told", words !== "");
  }

  /** @param {"checked"|"shown"} how */
  function conclude(how) {
    keep({ ...forecast.saved(), revealed: how });
    reveal(how);
    title.focus({ preventScroll: true }); // the form with the focus is gone; this way, keys scroll the page
    verdict.scrollIntoView({ block: "nearest" }); // on a phone it may be above the window
  }

  /** @param {"checked"|"shown"} how */
  function reveal(how) {
    answer(how === "checked" ? forecast.checked().words : forecast.answer(!part));
    forecast.drawing.finish();
    screen.classList.remove("predicting", "with-code");
    excerpt?.light();
    if (excerpt) text.after(excerpt.element); // on a stage; elsewhere the complete code is below
    showChart(true);
    const onward = part ? [] : [element("button", { onclick: predictAgain }, "Predict again"), around.next()];
    text.after(element("nav", { class: "onward", "aria-label": "Onward" }, ...onward));
    screen.append(createFullCode(lesson.code));
    text.replaceChildren(...(part?.form ? [place.element] : []), ...createStory());
    show(first);
  }

  function predictAgain() {
    setSlide(null);
    remember(lesson.key, EMPTY_STATE);
    around.onAgain();
  }

  /**
   * Show the chart of an exercise: the expected curve, the reader's curve and the failing test case.
   * @param {*} choice @param {Layer} layer the marks of the test case
   */
  function showExercise(choice, layer) {
    exercise = { choice, layer };
    if (exerciseStore) return exerciseStore.change(parseMessage(choice));
    current?.destroy();
    const reach = { ...around.instrument, confirm: null, hasData: false };
    current = showScene(watch, { scene: { path: "/", query: "", choice }, layer, secret: false, reach });
    exerciseStore = current.store;
    return offerOthers(null);
  }

  /** Offer the charts that are not shown. @param {import("./scenes.js").Scene|null} shown null for the exercise's */
  function offerOthers(shown) {
    screen.classList.toggle("of-scene", shown !== null);
    for (const { scene, button } of curveButtons) button.hidden = scene === shown || !(scene || exercise);
    for (const [at, scene] of lesson.scenes.entries())
      links.elements[at].classList.toggle("of-other", scene.path === "/" && scene !== shown);
  }

  /** @param {import("./scenes.js").Scene} scene */
  function show(scene) {
    current?.destroy();
    exerciseStore = null;
    const secret = screen.matches(".predicting");
    current = showScene(watch, {
      scene,
      layer: scene === first ? place.layer : null,
      ...(scene === first && { leastRange: forecast.leastRange, at: lesson.prediction.at }),
      secret,
      reach: around.instrument,
    });
    offerOthers(scene);
    if (!secret) {
      links.follow(scene, current.store);
      if (pictures) current.store.subscribeNow(pictures.follow);
      current.store.subscribeNow((chart, change) => nets.forEach((net) => followChart(net, chart, change)));
    }
  }

  /** Create the lesson's nets, each with a button to train it: a visitor may have only one training run at a time. */
  function createNets() {
    return lesson.scenes
      .filter((/** @type {*} */ { path }) => path === "/train")
      .map((/** @type {*} */ scene) => {
        const store = createNetStore(scene);
        const host = element("section", { class: "net to-start", "aria-label": "The net, live" });
        const look = around.presenting() ? "start primary" : "start";
        const start = element("button", { class: look, onclick: () => train(host, store) }, "Start");
        const names = element("span", {});
        const name = () => setText(names, describeNet(store.current, around.presenting()));
        store.subscribeNow(name);
        onPresentingChange(name, end.signal);
        links.follow(scene, store);
        nets.push(store);
        const lack = element("p", {}, "Training this net needs the app.");
        const offer = [start, element("p", {}, element("b", {}, "A net to train: "), names)];
        host.append(...(around.instrument.loadTraining ? offer : [lack]));
        return host;
      });
  }

  /** @param {HTMLElement} host @param {import("./scenes.js").Store} store */
  async function train(host, store) {
    /** @type {HTMLButtonElement} */ (host.querySelector(".start")).disabled = true;
    const createTraining = await around.instrument.loadTraining();
    if (end.signal.aborted) return;
    const presenting = around.presenting();
    const onOver = () => host.querySelector(".of-run")?.append(...results);
    host.classList.remove("to-start");
    const destroy = showNet(host, { store, presenting, reach: around.instrument, onOver, createTraining });
    end.signal.addEventListener("abort", destroy);
  }

  function createStory() {
    const options = { plotly: around.instrument.plotly, signal: end.signal };
    pictures = createPictures(lesson.pictures, options);
    const hosts = createNets();
    const right = screen.querySelector(".right");
    right[forecast.draws ? "append" : "prepend"](pictures.element);
    right.append(...hosts);
    const words = renderParagraphs(lesson.words, around.onTerm);
    if (around.instrument.loadTraining)
      results = words.filter((each) => each.textContent.startsWith(RESULT_START));
    const texts = words.filter((each) => !results.includes(each)).map((paragraph) => [paragraph]);
    const label = element("b", {}, "What to remember: ");
    const remembered = [
      element("p", { class: "remember" }, label, ...renderInline(lesson.remember, around.onTerm)),
      ...(part ? [] : [createRetest(lesson.key, lesson.retest, around)]),
    ];
    curveButtons = getCurveScenes(lesson.scenes).map((scene) => {
      const name = `Show ${getEntries(parseMessage(scene.choice)).op.label}`;
      return { scene, button: element("button", { onclick: () => show(scene) }, name) };
    });
    const draw = () => exercise && showExercise(exercise.choice, exercise.layer);
    curveButtons.push({ scene: null, button: element("button", { onclick: draw }, "Show your Function") });
    const buttons = curveButtons.map(({ button }) => button);
    const opening = element("nav", { class: "links", "aria-label": "Open" }, ...buttons, ...links.elements);
    if (lesson.exercise) remembered.push(createExerciseSection());
    const last = lesson.challenge ? [createParagraph("challenge", lesson.challenge)] : [];
    const asked = part?.form ? [[place.element]] : []; // in a class, the class's answers are the first slide
    const question = hosts.length ? texts[texts.length - 1] : []; // on the slide of the net that answers it
    const drawn = lesson.pictures.length ? [pictures.element] : [];
    const toSlide = (/** @type {HTMLElement[]} */ [words]) =>
      PICTURES_START.test(words.textContent) ? [words, ...drawn] : [words];
    slides.show([
      ...asked,
      ...texts.filter((each) => each !== question).map(toSlide),
      ...(hosts.length ? [[...question, ...hosts]] : []),
      remembered,
      ...last.map((each) => [each]),
    ]);
    const foot = element("div", { class: "foot flex-wrap" }, slides.element, opening);
    return [...texts.flat(), ...remembered, ...last, foot];
  }

  /** Create the exercise in which the reader writes an autograd Function next to its curves. */
  function createExerciseSection() {
    const { ask } = around.instrument;
    if (!ask.has("judge")) return element("p", {}, "To write it yourself takes the app.");
    let layer = /** @type {Layer|null} */ (null);
    const view = createExercise(lesson.exercise, {
      ask,
      onBegin(over) {
        layer = over;
        screen.classList.add("writing"); // hides the lesson's code, which may contain the solution
      },
      onDraw: (choice) => layer && showExercise(choice, layer),
    });
    end.signal.addEventListener("abort", view.destroy);
    return view.element;
  }

  /**
   * Move by a number of slides, or reveal the answer. Returns false if there is no such slide.
   * @param {number} step @returns {boolean}
   */
  function turn(step) {
    if (state.revealed) return slides.turn(step);
    if (step < 0 || part?.conclude === null) return false;
    if (part?.conclude) part.conclude();
    else conclude("shown");
    return true;
  }

  return {
    element: screen,
    /**
     * Restore the prediction and draw the chart. Call it when the screen is on the page.
     * @param {boolean} [isRevealed] whether the class has seen the answer, so that ``reveal`` draws the chart
     * @param {boolean} [hasArrived] whether the class has an answer of this student
     */
    begin(isRevealed = false, hasArrived = false) {
      const hasPredicted = state.picked !== null || state.drawn;
      hasSent = hasArrived;
      if (part && !isRevealed) setSlide(null);
      else if (getSlide() && !state.revealed && !part) keep({ revealed: "shown" }); // the link leads past the question
      forecast.restore(state);
      if (hasPredicted && !part) excerpt?.light();
      if (state.revealed) reveal(state.revealed);
      else if (state.missed && !part) check();
      else if (state.missed && hasArrived) confirmSent();
      else if (hasPredicted && hasArrived) answer(UNSENT_TEXT);
      if (forecast.draws && !state.revealed && !isRevealed) show(first);
      title.focus({ preventScroll: true });
    },
    /**
     * Reveal the answer when the teacher does. A student learns whether the prediction was right.
     * @param {boolean|null} hasArrived whether the class has an answer of this student; null for the teacher
     */
    async reveal(hasArrived) {
      await sending;
      if (state.revealed || end.signal.aborted) return;
      const { picked, drawn } = forecast.saved();
      const hasAnswered = picked !== null || Boolean(drawn?.some((value) => value !== null));
      const isRight = hasAnswered && forecast.checked().right;
      const [isLatest, isSent] = [state.missed, state.missed || sending !== null];
      const outcome = { hasAnswered, isRight, hasArrived: Boolean(hasArrived), isLatest, isSent };
      conclude(isRight ? "checked" : "shown");
      if (hasArrived === null) return;
      verdict.prepend(describeOutcome(outcome));
      setAttribute(verdict, "data-kind", hasAnswered && (isRight ? "right" : "wrong"));
      title.scrollIntoView({ block: "start" }); // on a phone, the answers below may be in view
    },
    showLinks() {
      links.show();
      slides.turn(0);
    },
    turn,
    /** @param {number} index */
    pick(index) {
      if (!state.revealed && !part?.form) forecast.pick(index);
    },
    destroy() {
      end.abort();
      current?.destroy();
    },
  };
}

/** @param {(name: string) => void} onShow called with the class of the last element of the visible slide */
function createSlides(onShow) {
  let groups = /** @type {HTMLElement[][]} */ ([]);
  let index = 0;
  const place = element("span", {});
  const back = element("button", { onclick: () => turn(-1), "aria-label": "Back" }, "‹");
  const onward = element("button", { class: "primary", onclick: () => turn(1), "aria-label": "On" }, "On ›");

  function update() {
    groups.forEach((group, number) => {
      for (const part of group) part.classList.toggle("off-slide", number !== index);
    });
    setText(place, `${index + 1} of ${groups.length}`);
    setSlide(index + 1);
    back.disabled = index === 0;
    onward.disabled = index === groups.length - 1;
    onShow(groups[index][groups[index].length - 1].className);
  }

  /** @param {number} step @returns {boolean} */
  function turn(step) {
    if (!groups[index + step]) return false;
    index += step;
    update();
    return true;
  }

  return {
    element: element("nav", { class: "slides", "aria-label": "Slides" }, back, place, onward),
    turn,
    /** @param {HTMLElement[][]} parts the elements of each slide */
    show(parts) {
      groups = parts;
      index = Math.max(0, Math.min(getSlide(), parts.length) - 1);
      update();
    },
  };
}
