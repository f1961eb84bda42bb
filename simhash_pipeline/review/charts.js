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
const SINGLE_BITS = 12;
const WIDE_BITS = [[13, 16], [17, 24], [25, Infinity]];

function binned(counts) {
  const bins = [];
  for (let bits = 0; bits <= SINGLE_BITS; bits++) bins.push({ name: String(bits), to: bits, pages: 0 });
  for (const [from, to] of WIDE_BITS) bins.push({ name: to === Infinity ? `${from}+` : `${from}–${to}`, to, pages: 0 });
  counts.forEach((pages, bits) => { bins.find((bin) => bits <= bin.to).pages += pages ?? 0; });
  return bins;
}

// Drops and pages kept though near.
function distances(place, dropped, kept, threshold) {
  const series = [["dropped", binned(dropped)], ["kept", binned(kept)]].filter(([, bins]) => bins.some((bin) => bin.pages));
  const label = say("Drops and pages kept though near, by content distance, a bar for each; the table after it has the numbers.");
  const names = binned([]).map((bin) => bin.name);
  const draw = (width, height) => {
    const foot = 40, head = 34, step = width / names.length, tall = height - foot - head;
    const wide = Math.min((step * 0.94) / series.length, 30), marks = [];
    const most = Math.max(...series.flatMap(([, bins]) => bins.map((bin) => bin.pages)));
    series.forEach(([kind, bins]) => {
      bins.forEach((bin, at) => {
        if (!bin.pages) return;
        const long = Math.max(3, (bin.pages / most) * tall), top = head + tall - long;
        const there = series.filter(([, other]) => other[at].pages).map(([name]) => name);
        const x = (at + 0.5) * step + (there.indexOf(kind) - there.length / 2) * wide;
        marks.push(drawn("rect", { x, y: top, width: wide - 1, height: long, rx: 2, class: kind }));
        if (step > 36) marks.push(drawn("text", { x: x + wide / 2, y: top - 5, class: "value" }, number.format(bin.pages)));
      });
    });
    names.forEach((name, at) => {
      if (step > 30 || at % 2 === 0) marks.push(drawn("text", { x: (at + 0.5) * step, y: height - foot + 17, class: "tick" }, name));
    });
    marks.push(drawn("line", { x1: 0, x2: width, y1: head + tall, y2: head + tall, class: "axis" }));
    marks.push(drawn("text", { x: width / 2, y: height - 4, class: "tick" }, say("bits apart")));
    if (Number.isInteger(threshold)) {
      const x = (threshold + 1) * step;
      marks.push(drawn("line", { x1: x, x2: x, y1: 4, y2: head + tall, class: "threshold" }));
      marks.push(drawn("text", { x: x + 6, y: 12, class: "threshold" }, say("threshold {0}", threshold)));
    }
    return marks;
  };
  const rows = names.map((name, at) => [name, ...series.map(([, bins]) => bins[at].pages)]);
  const says = { dropped: say("dropped"), kept: say("kept though near") };
  chart(place, 320, label, draw, table(say("Pages by content distance"), [say("bits apart"), ...series.map(([kind]) => says[kind])], rows));
  place.append(element("p", { class: "legend" }, ...series.flatMap(([kind]) => [element("span", { class: `key ${kind}` }), `${says[kind]} `])));
}

// Names with their counts and a bar of their share.
function shares(caption, counts, all) {
  return element("table", { class: "shares" },
    element("caption", {}, caption),
    element("tbody", {}, ...counts.map(([name, count]) => {
      const bar = drawn("svg", { width: "100%", height: 10, "aria-hidden": "true" },
        drawn("rect", { width: `${(100 * count) / all}%`, height: 10, rx: 2, class: "dropped" }));
      return element("tr", {}, element("th", { scope: "row" }, name || say("none")),
        element("td", { class: "count" }, number.format(count)), element("td", { class: "bar" }, bar));
    })));
}
