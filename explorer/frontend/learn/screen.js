// One lesson: the question and a prediction first; then its answer, the story, and the live curves.

import { getEntries } from "../choice/choice.js";
import { createExercise } from "../editor/exercise.js";
import { element, setText } from "../elements/dom.js";
import { createExcerpt, wholeCode } from "./code.js";
import { createForecast } from "./forecast.js";
import { NOTHING, recall, remember } from "./memory.js";
import { pictureOf } from "./pictures/pictures.js";
import { createRetest } from "./retest.js";
import { createLinks, curvesOf, createHosts, showNet, showScene } from "./scenes.js";
import { inline, paragraphs } from "./words.js";
import { parseMessage } from "../choice/message.js";

/**
 * The surroundings of a lesson: ``address`` gives that of a page or route of the server, ``instrument`` is
 * what the instrument reaches, ``skeleton`` holds the hosts of a training.
 * @typedef {{address: (name: string) => string, embedded: boolean, presenting: () => boolean,
 *   onTerm: import("./words.js").OnTerm, next: () => HTMLElement, onAgain: () => void, skeleton: string,
 *   instrument: *}} Surroundings ``next`` leads to the next lesson, ``onAgain`` opens this one anew
 */

/**
 * The part of a reader in a class, where somebody else reveals the answer. ``memory`` is the key that the prediction
 * is remembered by, null for none; ``form`` makes what stands in the place of the form, with a layer over the first
 * curves in the place of the reader's drawing; ``send`` gets the prediction, and says whether it was taken;
 * ``conclude`` shows everybody the answer, null where it is not this reader's to do.
 * @typedef {{memory: string|null, form: ((forecast: import("./forecast.js").Forecast) => {element: HTMLElement,
 *   layer: Layer|null})|null, send: ((prediction: {picked: number|null, drawn: (number|null)[]|null}) =>
 *   Promise<{taken: boolean, words: string}>)|null, conclude: (() => *)|null}} Part
 * @typedef {import("./scenes.js").Layer} Layer
 */

/**
 * The screen of a lesson as the server answers it.
 * @param {*} lesson
 * @param {Surroundings} around
 * @param {Part|null} [part] in a class
 */
export function createLesson(lesson, around, part = null) {
  const end = new AbortController();
  const memory = part ? part.memory : lesson.key;
  const state = { ...(memory ? recall(memory) : NOTHING) };
  const [first] = curvesOf(lesson.scenes);
  const forecast = createForecast(lesson.prediction, parseMessage(first.choice), {
    onTerm: around.onTerm,
    ...(part && { decide: "Send my prediction" }),
    onCheck: part ? send : check,
    onSkip: part ? null : () => conclude("shown"),
    onChange() {
      keep({ ...forecast.saved(), missed: false });
      excerpt?.light();
      if (part) answer(""); // what was said is of the prediction before
    },
  });
  const excerpt = lesson.excerpt && createExcerpt(lesson.excerpt);
  const place = part?.form?.(forecast) ?? { element: forecast.element, layer: forecast.drawing };
  const { watch, list } = createHosts();
  const said = (/** @type {string} */ name, /** @type {string} */ words) =>
    element("p", { class: name }, ...inline(words, around.onTerm));
  const verdict = element("p", { class: "verdict", role: "status" });
  const title = element("h2", { tabindex: -1, class: "title" }, lesson.title);
  const head = element(
    "header",
    {},
    title,
    said("question", lesson.question),
    said("ask", lesson.prediction.ask),
    verdict,
  );
  const text = element("div", { class: "text" }, place.element);
  const screen = element(
    "article",
    { class: "screen predicting" },
    element("div", { class: "left" }, head, ...(excerpt && forecast.draws ? [excerpt.element] : []), text),
    element("div", { class: "right" }, ...(excerpt && !forecast.draws ? [excerpt.element] : []), watch),
  );
  const links = createLinks(lesson.scenes, around);
  let current = /** @type {ReturnType<typeof showScene>|null} */ (null);
  let written = /** @type {import("./scenes.js").Store|null} */ (null); // of the curves of an exercise
  let pictures = /** @type {import("./pictures/pictures.js").Picture[]} */ ([]);
  const slides = createSlides();
  watch.hidden = !forecast.draws;

  /** @param {Partial<import("./memory.js").State>} change */
  function keep(change) {
    Object.assign(state, change);
    if (memory) remember(memory, state);
  }

  /** The reader has predicted: the answer comes when it was right, else a sentence and another try. */
  function check() {
    const { right, words } = forecast.checked();
    if (right) return conclude("checked");
    answer(words);
    forecast.missed();
    keep({ ...forecast.saved(), missed: true });
    if (watch.hidden) {
      watch.hidden = false;
      show(first);
    }
    return undefined;
  }

  async function send() {
    const prediction = forecast.saved();
    keep({ ...prediction, missed: true });
    forecast.rest(true);
    const { taken = false, words = "" } = (await part?.send?.(prediction)) ?? {};
    if (state.revealed || !state.missed) return; // or it was changed meanwhile
    answer(words);
    keep({ missed: taken });
    forecast.rest(taken);
  }

  /** @param {string} words */
  function answer(words) {
    verdict.replaceChildren(...inline(words, around.onTerm));
  }

  /** @param {"checked"|"shown"} how */
  function conclude(how) {
    keep({ ...forecast.saved(), revealed: how });
    reveal(how);
    title.focus({ preventScroll: true }); // the form is gone, and with it what the keys scrolled
  }

  /** @param {"checked"|"shown"} how */
  function reveal(how) {
    answer(how === "checked" ? forecast.checked().words : forecast.answer());
    forecast.drawing.finish();
    screen.classList.remove("predicting");
    excerpt?.element.remove(); // all of the code stands below now
    watch.hidden = false;
    screen.querySelector(".right").append(list);
    screen.append(...nets(), wholeCode(lesson.code), onward());
    text.replaceChildren(...(part?.form ? [place.element] : []), ...story());
    show(first);
  }

  function clear() {
    current?.destroy();
    for (const host of [...watch.querySelectorAll(".words, .strip"), ...list.children])
      host.replaceChildren();
  }

  /** What an exercise should return and what was written, with the case that fails. @param {*} choice @param {Layer} layer */
  function showWritten(choice, layer) {
    if (written) return written.change(parseMessage(choice));
    clear();
    const reach = { ...around.instrument, confirm: null, hasData: false };
    current = showScene(screen, { scene: { path: "/", query: "", choice }, layer, secret: false, reach });
    written = current.store;
    return undefined;
  }

  /** @param {import("./scenes.js").Scene} scene */
  function show(scene) {
    clear();
    written = null;
    const secret = screen.matches(".predicting");
    current = showScene(screen, {
      scene,
      layer: scene === first ? place.layer : null,
      leastRange: scene === first ? forecast.leastRange : undefined,
      secret,
      reach: around.instrument,
    });
    if (!secret) {
      links.follow(scene, current.store);
      accompany(current.store);
    }
  }

  /** The pictures go along with the curves. @param {import("./scenes.js").Store} store */
  function accompany(store) {
    const follow = (/** @type {*} */ choice) => pictures.forEach((picture) => picture.follow(choice));
    follow(store.choice);
    store.subscribe(follow);
  }

  /** Nets that train here when they are asked to: a visitor has one run at a time. */
  function nets() {
    return lesson.scenes
      .filter((/** @type {*} */ { path }) => path === "/train")
      .map((/** @type {*} */ scene) => {
        const host = element("section", { class: "net", "aria-label": "The net, live" });
        host.append(
          around.instrument.createTraining
            ? element("button", { onclick: () => train(host, scene) }, "Train it here")
            : element("p", {}, "Training this net needs the app."),
        );
        return host;
      });
  }

  /** @param {HTMLElement} host @param {import("./scenes.js").Scene} scene */
  function train(host, scene) {
    const net = showNet(host, {
      scene,
      presenting: around.presenting(),
      skeleton: around.skeleton,
      reach: around.instrument,
    });
    links.follow(scene, net.store);
    end.signal.addEventListener("abort", net.destroy);
  }

  function story() {
    const options = { plotly: around.instrument.plotly, signal: end.signal };
    pictures = lesson.pictures.map((/** @type {*} */ picture) => pictureOf(picture, options));
    const told = paragraphs(lesson.words, around.onTerm).map((paragraph) => [paragraph]);
    const drawn = element("div", { class: "pictures" }, ...pictures.map((picture) => picture.element));
    const remembered = [
      element(
        "p",
        { class: "remember" },
        element("b", {}, "What to remember: "),
        ...inline(lesson.remember, around.onTerm),
      ),
      ...(part ? [] : [createRetest(lesson.key, lesson.retest, around.onTerm)]),
    ];
    const opening = element("nav", { class: "links", "aria-label": "Open" }, ...others(), ...links.elements);
    const last = lesson.exercise ? [exercise()] : [];
    const asked = part?.form ? [[place.element]] : []; // what the class answered leaves the stage to the story
    slides.show([
      ...asked,
      ...told,
      ...(pictures.length ? [[drawn]] : []),
      remembered,
      ...last.map((each) => [each]),
    ]);
    return [...told.flat(), drawn, ...remembered, ...last, slides.element, opening];
  }

  /** A Function to be written, beside the curves. */
  function exercise() {
    const { ask } = around.instrument;
    if (!ask.has("judge")) return element("p", {}, "To write it yourself takes the app.");
    let layer = /** @type {Layer|null} */ (null);
    const begun = createExercise(lesson.exercise, {
      ask,
      onBegin(over) {
        layer = over;
        screen.classList.add("writing");
        screen.querySelector(".code")?.removeAttribute("open"); // it may hold the answer
      },
      onDraw: (choice) => layer && showWritten(choice, layer),
    });
    end.signal.addEventListener("abort", begun.destroy);
    return begun.element;
  }

  /** Go on, or back, by a slide; false where there is none. @param {number} step @returns {boolean} */
  function turn(step) {
    if (state.revealed) return slides.turn(step);
    if (step < 0 || part?.conclude === null) return false;
    if (part?.conclude) part.conclude();
    else conclude("shown");
    return true;
  }

  /** Buttons that show each of several curves here. */
  function others() {
    const curves = curvesOf(lesson.scenes);
    if (curves.length < 2) return [];
    return curves.map((scene) =>
      element(
        "button",
        { onclick: () => show(scene) },
        `Show ${getEntries(parseMessage(scene.choice)).op.label}`,
      ),
    );
  }

  /** The links to the next lesson, and back to the prediction. */
  function onward() {
    return element(
      "nav",
      { class: "onward", "aria-label": "Onward" },
      ...(part ? [] : [element("button", { onclick: again }, "Predict again"), around.next()]),
    );
  }

  function again() {
    remember(lesson.key, NOTHING);
    around.onAgain();
  }

  return {
    element: screen,
    /** Show what there is to see: the screen now stands in the page. */
    begin() {
      forecast.restore(state);
      if (state.picked !== null || state.drawn) excerpt?.light();
      if (state.revealed) reveal(state.revealed);
      else if (state.missed) part ? forecast.rest(true) : check();
      if (forecast.draws && !state.revealed) show(first);
      title.focus({ preventScroll: true });
    },
    /** Show the answer, as its teacher does; ``unanswered`` is said to who has predicted nothing. @param {string} unanswered */
    reveal(unanswered) {
      if (state.revealed) return;
      const { picked, drawn } = forecast.saved();
      const hasAnswered = picked !== null || drawn?.some((value) => value !== null);
      conclude(hasAnswered && forecast.checked().right ? "checked" : "shown");
      if (!hasAnswered && unanswered) verdict.prepend(`${unanswered} `);
    },
    showLinks: links.show,
    turn,
    /** Pick an answer for the reader, as a press on it does. @param {number} index */
    pick(index) {
      if (!state.revealed && !part?.form) forecast.pick(index);
    },
    destroy() {
      end.abort();
      current?.destroy();
    },
  };
}

/** The parts of a story of which a stage shows one at a time, and the buttons that lead from one to another. */
function createSlides() {
  let groups = /** @type {HTMLElement[][]} */ ([]);
  let index = 0;
  const place = element("span", {});
  const back = element("button", { onclick: () => turn(-1), "aria-label": "Back" }, "‹");
  const onward = element("button", { onclick: () => turn(1), "aria-label": "On" }, "›");

  function dress() {
    groups.forEach((group, number) => {
      for (const part of group) part.classList.toggle("off-slide", number !== index);
    });
    setText(place, `${index + 1} of ${groups.length}`);
    back.disabled = index === 0;
    onward.disabled = index === groups.length - 1;
  }

  /** @param {number} step @returns {boolean} whether there is a slide */
  function turn(step) {
    if (!groups[index + step]) return false;
    index += step;
    dress();
    return true;
  }

  return {
    element: element("nav", { class: "slides", "aria-label": "Slides" }, back, place, onward),
    turn,
    /** @param {HTMLElement[][]} parts of the story, each shown alone */
    show(parts) {
      groups = parts;
      index = 0;
      dress();
    },
  };
}
