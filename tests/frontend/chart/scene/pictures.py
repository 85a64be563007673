"""The picture of a chart as its page makes it of entries and a choice, and the space that it is drawn in."""

PICTURE = """
    const { sampleCurves } = await import("./formula/curves.js");
    const { computeScene, describeLines, planStep } = await import("./chart/scene/scene.js");
    const { toTraces } = await import("./chart/scene/traces.js");
    const theme = { text: "black", ground: "white", font: "serif", type: 0 };
    const space = { theme, width: 900, height: 520 };
    const makePicture = ({ op, rules, hidden = [], colours = ["blue", "red", "green"], ...more }) => {
      const common = { g: 1, parameters: {}, learns: "", neutral: "grey", words: "", confirmed: false };
      const choice = { ...common, range: [-3, 3], ...more };
      const [start, stop] = choice.range;
      const curves = sampleCurves({ op, rules }, { ...choice, start, stop });
      const listed = rules.map((entry, slot) => {
        const { key, label } = entry;
        return { key, label, colour: colours[slot], slot, entry, hidden: hidden.includes(key) };
      });
      return { ...choice, curves, op, rules: listed };
    };
"""
