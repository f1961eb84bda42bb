
const told = JSON.parse(document.getElementById("told").textContent);
const drops = told.drops;
const GROUPS_A_PAGE = 20;
const DROPS_AT_FIRST = 5;
const DROPS_MORE = 50;
const byId = (id) => document.getElementById(id);
const bits = (count) => `${count} ${count === 1 ? "bit" : "bits"}`;
const many = (count, one, more = `${one}s`) => `${number.format(count)} ${count === 1 ? one : more}`;

// Text from pages

// As people read it: percent-decoded, but for what can't be seen or turns the reading direction.
function readable(url) {
  const decode = (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes; // not UTF-8
    }
  };
  const keep = (character) => (/[\p{C}\p{Z}%#?&=+/]/u.test(character) ? encodeURIComponent(character) : character);
  return url.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    const text = decode(escapes);
    return text === escapes ? text : Array.from(text, keep).join("");
  });
}

// So that the browser takes a font that has the characters.
function languageOf(text) {
  if (/[\u3040-\u30ff]/u.test(text)) return "ja";
  return /\p{Script=Han}/u.test(text) ? "zh" : null;
}

function pageText(name, text, properties = {}) {
  return element(name, { dir: "auto", lang: languageOf(text), ...properties }, text);
}

// A link only where a page is fetched: javascript:, data: and file: stay text.
function address(url) {
  const shown = readable(url);
  if (!/^https?:\/\//i.test(url)) return pageText("span", shown, { class: "address" });
  return pageText("a", shown, { class: "address", href: url, rel: "noreferrer noopener" });
}

// Overview

function showOverview() {
  const { summary } = told;
  byId("about").append(about(summary));
  byId("totals").append(totals(summary));
  byId("notes").append(...notes(summary).map((text) => element("p", { class: "note" }, text)));
  byId("reasons").append(shares("Reasons", summary.reasons, summary.dropped));
  const hosts = summary.hostCount > summary.hosts.length ? `Hosts, the first of ${number.format(summary.hostCount)}` : "Hosts";
  byId("hosts").append(shares(hosts, summary.hosts, summary.dropped));
  const select = byId("chart-run");
  told.runs.forEach((run, place) => {
    select.prepend(element("option", { value: place }, `${run.spider}, ${utc(run.first, 16)}, ${many(run.dropped, "drop")}`));
  });
  select.selectedIndex = 0;
  select.addEventListener("change", showRun);
  showRun();
}

function about(summary) {
  if (!summary.dropped) return `${told.log}: no drops.`;
  const chosen = Object.entries(summary.selection).filter(([, value]) => value !== null);
  const only = chosen.length ? `, only ${chosen.map(([name, value]) => `${name} ${value}`).join(", ")}` : "";
  const [first, last] = [utc(summary.first, 16), utc(summary.last, 16)];
  return `${told.log}, ${first === last ? first : `${first} to ${last}`} UTC${only}`;
}

function totals(summary) {
  const tile = (value, name, detail, kind) => element("div", { class: `tile ${kind ?? ""}` },
    element("dt", {}, name), element("dd", {}, element("b", {}, value), element("span", {}, detail)));
  const kept = summary.kept && Object.values(summary.kept).reduce((sum, count) => sum + count, 0);
  const all = (kept ?? 0) + summary.dropped;
  const share = all ? `${((100 * summary.dropped) / all).toFixed(1)} % of pages judged` : "";
  const atLeast = summary.groupsLacking ? "at least " : "";
  const each = summary.groups ? `${(summary.dropped / summary.groups).toFixed(1)} drops each` : "";
  return element("dl", {},
    tile(number.format(summary.dropped), summary.dry ? "Dropped or would be" : "Dropped", kept === null ? "near-duplicates" : share, "dropped"),
    tile(kept === null ? "not known" : number.format(kept), "Kept", kept === null ? "by this log" : keptBy(summary.kept), "kept"),
    tile(atLeast + number.format(summary.groups), "Twins", each),
    tile(number.format(summary.hostCount), summary.hostCount === 1 ? "Host" : "Hosts", many(summary.runCount, "crawl")));
}

function keptBy(kept) {
  return Object.entries(kept).map(([reason, count]) => `${reason} ${number.format(count)}`).join(", ");
}

function notes(summary) {
  const errors = Object.entries(summary.errors).map(([kind, count]) => `${kind.replaceAll("_", " ")} ${number.format(count)}`);
  return [
    summary.dry ? `${many(summary.dry, "drop")} by a dry run: the items were kept all the same.` : "",
    errors.length ? `Kept without being judged: ${errors.join(", ")}.` : "",
    drops.url.length < summary.dropped
      ? `The list below holds the latest ${number.format(drops.url.length)} drops; totals and charts count all ${number.format(summary.dropped)}.` : "",
  ].filter(Boolean);
}

function showRun() {
  const run = told.runs[byId("chart-run").value];
  if (!run) {
    byId("timeline").append(element("p", {}, "No run."));
    return;
  }
  if (run.slices.length) timeline(byId("timeline"), run);
  else byId("timeline").replaceChildren(element("p", {}, "No page was judged."));
  histogram(byId("content-chart"), told.summary.content, run.settings.content_distance, "content");
  // Structure decides only where SIMHASH_MATCH says so.
  const decides = run.settings.match === "content" ? undefined : run.settings.structure_distance;
  histogram(byId("structure-chart"), told.summary.structure, decides, "structure");
  byId("settings").replaceChildren(settings(run));
}

function settings(run) {
  const rows = Object.entries(run.settings).map(([name, value]) => element("tr", {},
    element("th", { scope: "row" }, `SIMHASH_${name.toUpperCase()}`), element("td", {}, asInPython(value))));
  return element("div", { class: "scroll settings", tabindex: 0, role: "group", "aria-label": "Settings of the run" },
    element("table", {}, element("caption", { class: "unseen" }, "Settings of the run"), element("tbody", {}, ...rows)));
}

function asInPython(value) {
  if (typeof value === "string") return `'${value}'`;
  if (Array.isArray(value)) return `(${value.map(asInPython).join(", ")}${value.length === 1 ? "," : ""})`;
  return { null: "None", true: "True", false: "False" }[value] ?? String(value);
}

// The list

const state = { groups: [], page: 0, found: "" };
let haystacks = null; // made when first searched

function haystack(place) {
  haystacks ??= new Array(drops.url.length);
  const twin = drops.twins[drops.twin[place]];
  haystacks[place] ??= `${drops.title[place]}\n${drops.url[place]}\n${readable(drops.url[place])}\n${twin}\n${readable(twin)}`.toLowerCase();
  return haystacks[place];
}

function found() {
  const terms = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const reason = byId("reason").value, distance = byId("distance").value;
  const places = [];
  for (let place = 0; place < drops.url.length; place++) {
    if (reason !== "" && drops.reason[place] !== Number(reason)) continue;
    if (distance !== "" && drops.content[place] !== Number(distance)) continue;
    if (terms.length && !terms.every((term) => haystack(place).includes(term))) continue;
    places.push(place);
  }
  return places;
}

const farthest = 1000; // more bits than any threshold leaves
const left = (place) => drops.left[place] ?? farthest;
const byPlace = { // how drops stand in a group; the log's own order is by time
  biggest: (a, b) => a - b,
  nearest: (a, b) => left(a) - left(b),
  newest: (a, b) => drops.time[b] - drops.time[a],
  oldest: (a, b) => drops.time[a] - drops.time[b],
  address: (a, b) => (drops.url[a] < drops.url[b] ? -1 : 1),
};
const byGroup = { // by their first drop, but for the size of the group and its page's address
  biggest: (a, b) => b.places.length - a.places.length,
  nearest: (a, b) => byPlace.nearest(a.places[0], b.places[0]),
  newest: (a, b) => byPlace.newest(a.places[0], b.places[0]),
  oldest: (a, b) => byPlace.oldest(a.places[0], b.places[0]),
  address: (a, b) => (drops.twins[a.twin] < drops.twins[b.twin] ? -1 : 1),
};

function grouped(places, order) {
  const groups = new Map();
  for (const place of places) {
    const twin = drops.twin[place];
    if (!groups.has(twin)) groups.set(twin, { twin, places: [] });
    groups.get(twin).places.push(place);
  }
  for (const group of groups.values()) group.places.sort(byPlace[order]);
  return [...groups.values()].sort(byGroup[order]);
}

function search() {
  const places = found();
  state.groups = grouped(places, byId("order").value);
  state.page = 0;
  state.found = places.length
    ? `${many(places.length, "drop")} of ${many(state.groups.length, "kept page")}` : "No drop is like that.";
  byId("found").textContent = state.found;
  showPage();
}

function showPage() {
  const pages = Math.max(1, Math.ceil(state.groups.length / GROUPS_A_PAGE));
  const start = state.page * GROUPS_A_PAGE;
  byId("groups").replaceChildren(...state.groups.slice(start, start + GROUPS_A_PAGE).map(card));
  byId("page").textContent = `Page ${number.format(state.page + 1)} of ${number.format(pages)}`;
  byId("previous").disabled = state.page === 0;
  byId("next").disabled = state.page + 1 >= pages;
  byId("pager").hidden = pages === 1;
}

function turn(pages) {
  state.page += pages;
  showPage();
  byId("drops").focus({ preventScroll: true });
  byId("found").scrollIntoView();
  byId("found").textContent = `${state.found}, page ${number.format(state.page + 1)}`;
}

function card(group) {
  const url = drops.twins[group.twin], since = drops.firstSeen[group.twin];
  const list = element("ol", { class: "dropped-pages" });
  const more = element("button", { type: "button", class: "more" });
  let shown = 0;
  const show = (count) => {
    const next = group.places.slice(shown, shown + count);
    const items = next.map((place) => droppedPage(place, url));
    list.append(...items);
    shown += next.length;
    const hidden = group.places.length - shown;
    more.hidden = hidden === 0;
    more.textContent = hidden > DROPS_MORE ? `Show ${DROPS_MORE} of ${number.format(hidden)} more` : `Show ${hidden} more`;
    return items[0];
  };
  show(DROPS_AT_FIRST);
  more.addEventListener("click", () => {
    const first = show(DROPS_MORE);
    first.tabIndex = -1;
    first.focus();
  });
  const name = `group-${group.twin}`;
  return element("article", { class: "card", "aria-labelledby": name },
    element("header", {},
      element("span", { class: "tag kept" }, "Kept"),
      element("h3", { id: name }, url ? address(url) : "A page the log doesn't name"),
      element("p", { class: "facts" }, [since === null ? "" : `first kept ${utc(since, 16)}`, many(group.places.length, "drop")].filter(Boolean).join(", "))),
    list, more);
}

function droppedPage(place, twin) {
  const title = drops.title[place], reason = drops.reasons[drops.reason[place]];
  const facts = [
    fact("reason", reason),
    distanceFact("content", drops.content[place]),
    distanceFact("structure", drops.structure[place]),
    distanceFact("sketch", drops.sketch[place]),
    drops.left[place] === 0 ? element("li", { class: "at" }, "at the threshold") : null,
    fact("words", number.format(drops.tokens[place])),
    element("li", {}, utc(drops.time[place])),
    drops.dry[place] ? element("li", {}, "dry run: kept all the same") : null,
  ];
  return element("li", {},
    element("span", { class: "tag dropped" }, "Dropped"),
    element("div", { class: "what" },
      title ? pageText("p", title, { class: "title" }) : null,
      element("p", {}, address(drops.url[place])),
      element("ul", { class: "facts" }, ...facts)),
    told.compared[place] ? compareButton(place, twin) : null);
}

function fact(name, value) {
  return element("li", {}, `${name} `, element("b", {}, value));
}

function distanceFact(name, distance) {
  return distance === null ? null : fact(name, bits(distance));
}

// Two texts side by side

function compareButton(place, twin) {
  const button = element("button", { type: "button", class: "compare", "aria-haspopup": "dialog" }, "Side by side",
    element("span", { class: "unseen" }, ` with ${readable(drops.url[place])}`));
  button.addEventListener("click", () => compare(place, twin));
  return button;
}

async function compare(place, twin) {
  const rows = await unpacked(told.compared[place]);
  const differing = rows.filter((row) => typeof row !== "string").length;
  byId("compare-found").textContent = differing
    ? `${many(differing, "paragraph")} of ${number.format(rows.length)} ${differing === 1 ? "differs" : "differ"}.` : "The texts are the same.";
  byId("compared").replaceChildren(
    element("caption", { class: "unseen" }, "The kept page's text and the dropped page's, paragraph by paragraph"),
    element("thead", {}, element("tr", {}, heading("Kept", "kept", twin), heading("Dropped", "dropped", drops.url[place]))),
    element("tbody", {}, ...rows.map(row)));
  showDifferences();
  byId("compare").showModal();
}

function heading(name, kind, url) {
  return element("th", { scope: "col" }, element("span", { class: `tag ${kind}` }, name), " ", address(url));
}

function row(pieces) {
  if (typeof pieces === "string") {
    return element("tr", { class: "same" }, pageText("td", pieces), pageText("td", pieces));
  }
  const [kept, dropped] = pieces;
  return element("tr", { class: "differs" }, cell(kept, "del"), cell(dropped, "ins"));
}

// Pieces of a line are by turns unmarked and marked.
function cell(pieces, mark) {
  return element("td", { dir: "auto", lang: languageOf(pieces.join("")) },
    ...pieces.map((piece, place) => (place % 2 && piece ? element(mark, {}, piece) : piece)));
}

async function unpacked(base64) {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

function showDifferences() {
  byId("compared").classList.toggle("differences", byId("differences").checked);
}

// Light and dark

function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  byId("theme").setAttribute("aria-pressed", dark);
}

function fillFilters() {
  const option = (value, name) => element("option", { value }, name);
  byId("reason").append(option("", "any"), ...drops.reasons.map((reason, place) => option(place, reason)));
  const distances = [...new Set(drops.content)].filter((distance) => distance !== null).sort((a, b) => a - b);
  byId("distance").append(option("", "any"), ...distances.map((distance) => option(distance, bits(distance))));
}

function begin() {
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches);
  byId("theme").addEventListener("click", () => setTheme(byId("theme").getAttribute("aria-pressed") === "false"));
  showOverview();
  fillFilters();
  search();
  let waiting;
  byId("search").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(search, 150);
  });
  for (const id of ["reason", "distance", "order"]) byId(id).addEventListener("change", search);
  byId("filters").addEventListener("submit", (event) => {
    event.preventDefault();
    search();
  });
  byId("previous").addEventListener("click", () => turn(-1));
  byId("next").addEventListener("click", () => turn(1));
  byId("differences").addEventListener("change", showDifferences);
  byId("close").addEventListener("click", () => byId("compare").close());
}

begin();
