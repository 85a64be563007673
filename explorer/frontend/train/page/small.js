// The training run in a lesson: its compact view, and buttons that control it.

import { element } from "../../elements/dom.js";
import { followColours } from "../../explore/stage/colours.js";
import { NO_TABLE } from "../state/own-table.js";
import { readInk } from "../../elements/canvas.js";
import { createCommands } from "./commands.js";
import { createModel } from "./model.js";
import { describeParameters } from "../state/tasks.js";
import { createSmallPicture } from "./small-picture.js";
import { buildPicture } from "./view-model.js";

const STORED = { table: NO_TABLE, panels: {}, numbers: {} };

/** Creates the small training of a lesson. @typedef {typeof createSmallTraining} CreateSmallTraining */

/**
 * Create the training of a lesson, and start it.
 * @param {HTMLElement} host @param {import("./model.js").Store} store
 * @param {{server: (path: string) => string, plotly: string}} reach ``server``: makes addresses
 * @param {() => void} onOver called with each drawing of a run that is over
 */
export function createSmallTraining(host, store, { server, plotly }, onOver) {
  const end = new AbortController();
  const [buttons, status] = ["commands", "status"].map((name) => element("div", { class: name }));
  const { root, show, destroy } = createSmallPicture(
    element("div", { class: "bar flex-wrap" }, buttons, status),
    plotly,
  );
  host.replaceChildren(root);
  const { colours } = followColours(root, () => model.page.become(getTheme()), end.signal);
  const getTheme = () => ({ colours: colours().rules, ink: readInk(root) });
  const model = createModel(store, { server, theme: getTheme(), stored: STORED, paint });
  const { onStart, onPause, onResume, onStep } = model.lifecycle.buttons;
  const commands = createCommands({ buttons, status }, { onStart, onPause, onResume, onStep });
  model.page.put({ evidence: false });
  model.draw();
  onStart();
  root.scrollIntoView({ block: "start", behavior: "smooth" });

  /** @param {import("../state/state.js").State} state */
  function paint(state) {
    const picture = buildPicture(state);
    const { object, headline, chart } = picture;
    const heading = [picture.heading, ...describeParameters(state.choice)].join(", ");
    commands.show(picture);
    if (picture.again) onOver();
    show({ heading, words: [headline, picture.past].filter(Boolean).join(" "), lanes: object.lanes, chart });
  }

  return {
    destroy() {
      end.abort();
      model.destroy();
      destroy();
    },
  };
}
