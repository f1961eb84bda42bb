"use strict";

// Elements out of plain values: all text goes in as text nodes, never as markup.
function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

function drawn(name, properties = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(properties)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const number = new Intl.NumberFormat("en");

// "2026-11-21 13:30:05", to the minute or the day where `length` is 16 or 10.
function utc(seconds, length = 19) {
  return new Date(seconds * 1000).toISOString().slice(0, length).replace("T", " ");
}

// A chart is drawn in the pixels it has, so that its words stay as large as all others.
function chart(place, height, label, draw, table) {
  const picture = drawn("svg", { role: "img", "aria-label": label, height, width: "100%" });
  const redraw = () => {
    const width = place.clientWidth;
    if (!width) return;
    picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    picture.replaceChildren(...draw(width, height));
  };
  place.replaceChildren(picture, table);
  place.observer?.disconnect();
  place.observer = new ResizeObserver(redraw);
  place.observer.observe(place);
  redraw();
}

// The chart's numbers for those who don't see it.
function table(caption, heads, rows) {
  const cells = (name, values) => values.map((value) => element(name, name === "th" ? { scope: "col" } : {}, String(value)));
  return element("div", { class: "unseen" }, element("table", {},
    element("caption", {}, caption),
    element("thead", {}, element("tr", {}, ...cells("th", heads))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...cells("td", row))))));
}

// Distances worth a bar each; further ones only say "quite different".
const SINGLE_BITS = 8;
const WIDE_BITS = [[9, 16], [17, 32], [33, Infinity]];

function binned(counts, threshold) {
  const bins = [];
  for (let bits = 0; bits <= SINGLE_BITS; bits++) bins.push({ name: String(bits), from: bits, to: bits, drops: 0 });
  for (const [from, to] of WIDE_BITS) bins.push({ name: to === Infinity ? `${from}+` : `${from}–${to}`, from, to, drops: 0 });
  for (const [bits, drops] of counts) bins.find((bin) => bits <= bin.to).drops += drops;
  const last = bins.findLastIndex((bin) => bin.drops || bin.from === threshold);
  return bins.slice(0, Math.max(last, 4) + 1);
}

function histogram(place, counts, threshold, what) {
  const bins = binned(counts, threshold);
  const most = Math.max(1, ...bins.map((bin) => bin.drops));
  const label = `Drops by ${what} distance, a bar for each; the table after it has the numbers.`;
  const draw = (width, height) => {
    const foot = 40, head = 22, step = width / bins.length, tall = height - foot - head;
    const marks = bins.map((bin, place) => {
      const long = bin.drops ? Math.max(2, (bin.drops / most) * tall) : 0;
      const middle = (place + 0.5) * step, top = head + tall - long;
      const wide = Math.min(step * 0.7, 56);
      return drawn("g", {},
        drawn("rect", { x: middle - wide / 2, y: top, width: wide, height: long, rx: 2, class: "dropped" }),
        drawn("text", { x: middle, y: top - 6, class: "value" }, bin.drops ? number.format(bin.drops) : ""),
        drawn("text", { x: middle, y: height - foot + 17, class: "tick" }, bin.name));
    });
    marks.push(drawn("line", { x1: 0, x2: width, y1: head + tall, y2: head + tall, class: "axis" }));
    marks.push(drawn("text", { x: width / 2, y: height - 4, class: "tick" }, "bits apart"));
    const at = bins.findIndex((bin) => bin.from === threshold);
    if (at >= 0 && at + 1 < bins.length) {
      const x = (at + 1) * step;
      marks.push(drawn("line", { x1: x, x2: x, y1: 4, y2: head + tall, class: "threshold" }));
      marks.push(drawn("text", { x: x + 6, y: 14, class: "threshold" }, `threshold ${threshold}`));
    }
    return marks;
  };
  const rows = bins.map((bin) => [bin.name, bin.drops]);
  chart(place, 190, label, draw, table(`Drops by ${what} distance`, ["bits apart", "drops"], rows));
}

function timeline(place, run) {
  const kept = run.kept !== null;
  const first = run.slices[0][0], count = (run.slices.at(-1)[0] - first) / run.sliceSecs + 1;
  const most = Math.max(1, ...run.slices.map(([, stayed, gone]) => stayed + gone));
  const label = `Pages ${kept ? "kept and " : ""}dropped over time; the table after it has the numbers.`;
  const draw = (width, height) => {
    const foot = 22, head = 20, tall = height - foot - head, step = Math.min(width / count, 40);
    const marks = run.slices.flatMap(([start, stayed, gone]) => {
      const x = ((start - first) / run.sliceSecs) * step, wide = Math.max(step * 0.82, 1);
      const low = (stayed / most) * tall, high = (gone / most) * tall;
      const said = `${utc(start)}: ${kept ? `${number.format(stayed)} kept, ` : ""}${number.format(gone)} dropped`;
      return drawn("g", {}, drawn("title", {}, said),
        drawn("rect", { x, y: head + tall - low, width: wide, height: low, class: "kept" }),
        drawn("rect", { x, y: head + tall - low - high, width: wide, height: high, class: "dropped" }));
    });
    const end = first + count * run.sliceSecs, right = count * step;
    marks.push(drawn("line", { x1: 0, x2: width, y1: head + tall, y2: head + tall, class: "axis" }));
    marks.push(drawn("text", { x: 0, y: 12, class: "side" }, `at most ${number.format(most)} in ${lasting(run.sliceSecs)}`));
    marks.push(drawn("text", { x: 0, y: height - 5, class: "side" }, utc(first)));
    if (right > 300) marks.push(drawn("text", { x: right, y: height - 5, class: "side end" }, utc(end)));
    return marks;
  };
  const rows = run.slices.map(([start, stayed, gone]) => [utc(start), ...(kept ? [stayed] : []), gone]);
  const heads = ["from (UTC)", ...(kept ? ["kept"] : []), "dropped"];
  chart(place, 170, label, draw, table(`Pages by time, ${lasting(run.sliceSecs)} each`, heads, rows));
  place.append(element("p", { class: "legend" },
    ...(kept ? [element("span", { class: "key kept" }), "kept "] : []),
    element("span", { class: "key dropped" }), "dropped",
    kept ? "" : " (the run has no closing line, so what it kept isn't known)"));
}

function lasting(seconds) {
  const [size, unit] = [[86400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]].find(([size]) => seconds % size === 0);
  return seconds === size ? `a ${unit}`.replace("a hour", "an hour") : `${seconds / size} ${unit}s`;
}

// Names with their counts and a bar of their share.
function shares(caption, counts, all) {
  return element("table", { class: "shares" },
    element("caption", {}, caption),
    element("tbody", {}, ...counts.map(([name, count]) => {
      const bar = drawn("svg", { width: "100%", height: 10, "aria-hidden": "true" },
        drawn("rect", { width: `${(100 * count) / all}%`, height: 10, rx: 2, class: "dropped" }));
      return element("tr", {}, element("th", { scope: "row" }, name || "none"),
        element("td", { class: "count" }, number.format(count)), element("td", { class: "bar" }, bar));
    })));
}
