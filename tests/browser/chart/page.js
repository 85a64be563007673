// The chart by itself: what the rest of the instrument would do for it.

import { createChart } from "/js/chart/view/chart.js";
import { sampleCurves } from "/js/formula/curves.js";
import { setSampling } from "/js/formula/sampling.js";

setSampling(JSON.parse(document.querySelector("#sampling").textContent));

const shell = {
  /** A new chart without a choice, in place of the one before. */
  start(height, colours) {
    shell.chart?.destroy();
    const host = document.querySelector("#host");
    host.style = `height: ${height}px`;
    shell.colours = colours;
    shell.moves = [];
    shell.choice = { op: null, rules: [], range: [-3, 3], g: 1, p: {}, hidden: [] };
    shell.chart = createChart(host, { plotly: "/plotly.js", onView, onParameter, onProbe });
  },

  /** Draw the choice with some of it changed; op and rules are entries. */
  show(change, phase = "settled") {
    shell.choice = { ...shell.choice, ...change };
    const { op, rules, range, g, p } = shell.choice;
    shell.draw(sampleCurves({ op, rules }, { start: range[0], stop: range[1], g, parameters: p }), phase);
  },

  /** Draw the choice with torch's curves, numbers in lists. */
  confirm({ x, y, marks, gradients, kinks }) {
    const taken = Object.entries(gradients).map(([key, values]) => [key, Float32Array.from(values)]);
    const [xs, ys] = [Float32Array.from(x), Float32Array.from(y)];
    shell.draw(
      { x: xs, y: ys, marks: Int8Array.from(marks), gradients: Object.fromEntries(taken), kinks },
      "settled",
    );
  },

  draw(curves, phase) {
    const { op, rules, range, g, p, hidden } = shell.choice;
    shell.curves = curves;
    shell.chart.draw(
      {
        curves,
        op,
        rules: rules.map((entry, slot) => ({
          key: entry.key,
          label: entry.label,
          colour: shell.colours.rules[slot],
          slot,
          hidden: hidden.includes(entry.key),
          entry,
        })),
        neutral: shell.colours.neutral,
        parameters: p,
        g,
        range,
        words: `${op.label} with ${rules.map(({ label }) => label).join(", ")}`,
        confirmed: true,
      },
      phase,
    );
  },
};

function onView(start, stop, phase) {
  shell.moves.push(["view", start, stop, phase]);
  shell.show({ range: [start, stop] }, phase);
}

function onParameter(name, value, phase) {
  shell.moves.push(["parameter", name, value, phase]);
  shell.show({ p: { ...shell.choice.p, [name]: value } }, phase);
}

function onProbe(x) {
  shell.moves.push(["probe", x]);
}

window.shell = shell;
