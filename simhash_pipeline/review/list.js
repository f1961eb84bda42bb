// What is shown: filters that stand in the address, the groups, and a sheet of them

const GROUPS_A_PAGE = 20;
const DROPS_AT_FIRST = 3;
const DROPS_MORE = 50;
const HOSTS_LISTED = 200;
const FILTERS = ["search", "run", "show", "spider", "host", "reason", "distance", "order"];
const ALL_RUNS = "all";

const state = { places: [], groups: [], queue: [], page: 0, found: "" };
const hosts = drops.url.map((url) => /^[^/]*:\/\/(?:[^/?]*@)?([^/?]*)/.exec(url)?.[1] ?? "");
const runOf = new Map(data.runs.map((run) => [run.id, run]));
let haystacks = null; // made when first searched

function haystack(place) {
  haystacks ??= new Array(drops.url.length);
  const twin = drops.twins[drops.twin[place]];
  haystacks[place] ??= [drops.title[place], drops.url[place], readable(drops.url[place]), twin, readable(twin), titleOfTwin(place)].join("\n").toLowerCase();
  return haystacks[place];
}

const TITLE_KEPT = 100; // characters of a kept page's title, as stores have them
const titleOfTwin = (place) => drops.twinTitles[drops.twin[place]];
const run = (place) => runOf.get(drops.runs[drops.run[place]]);
const lastRun = () => data.runs.at(-1)?.id ?? ALL_RUNS;

function isShown(place, show) {
  if (!show) return true;
  if (show === "dropped" || show === "near") return drops.near[place] === Number(show === "near");
  if (show === "check") return drops.check[place];
  if (show === "open") return drops.check[place] && !answerOf(place);
  return answerOf(place) === show;
}

// The drops of the chosen run, whatever else is chosen.
function ofRun() {
  const chosen = drops.runs.indexOf(byId("run").value);
  const places = [...drops.url.keys()];
  return byId("run").value === ALL_RUNS ? places : places.filter((place) => drops.run[place] === chosen);
}

function found() {
  const [, , show, spider, host, reason, distance] = FILTERS.map((id) => byId(id).value);
  const terms = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  return ofRun().filter((place) => (host === "" || hosts[place] === host)
    && (reason === "" || drops.reasons[drops.reason[place]] === reason)
    && (distance === "" || drops.content[place] === Number(distance))
    && (spider === "" || run(place)?.spider === spider)
    && isShown(place, show)
    && terms.every((term) => haystack(place).includes(term)));
}

const farthest = 1000; // more bits than any threshold leaves
const left = (place) => drops.left[place] ?? farthest;
const byPlace = { // how drops stand in a group; the log's own order is by time
  "": (a, b) => drops.check[b] - drops.check[a] || drops.weight[b] - drops.weight[a] || left(a) - left(b),
  biggest: (a, b) => a - b,
  nearest: (a, b) => left(a) - left(b),
  newest: (a, b) => drops.time[b] - drops.time[a],
  oldest: (a, b) => drops.time[a] - drops.time[b],
  address: (a, b) => (drops.url[a] < drops.url[b] ? -1 : 1),
};
const byFirst = (order) => (a, b) => byPlace[order](a.places[0], b.places[0]);
const byGroup = { // by their first drop, but for the size of the group and its page's address
  biggest: (a, b) => b.places.length - a.places.length,
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
  return [...groups.values()].sort(byGroup[order] ?? byFirst(order));
}

// The order of j and k: the first few of each group, then what is folded away.
function queue(groups) {
  const first = groups.flatMap((group) => group.places.slice(0, DROPS_AT_FIRST));
  return first.concat(groups.flatMap((group) => group.places.slice(DROPS_AT_FIRST)));
}

function search() {
  state.places = found();
  state.groups = grouped(state.places, byId("order").value);
  state.queue = queue(state.groups);
  state.page = 0;
  const urls = new Set(state.places.map((place) => drops.url[place])).size;
  const pages = urls === state.places.length ? "" : say(" ({0})", many(urls, "different page"));
  state.found = state.places.length
    ? say("{0}{1} of {2}", countOf(state.places), pages, many(state.groups.length, "kept page")) : say("No page matches.");
  byId("found").textContent = state.found;
  byId("chosen").textContent = chosenFilters().length ? say(" ({0})", chosenFilters().length) : "";
  byId("csv").disabled = !state.places.length;
  showPage();
}

// "3 drops", "2 near misses", or both.
function countOf(places) {
  const near = places.filter((place) => drops.near[place]).length, gone = places.length - near;
  if (!near) return many(gone, "drop");
  const misses = many(near, "near miss", "near misses");
  return gone ? say("{0} and {1}", many(gone, "drop"), misses) : misses;
}

function showPage() {
  const pages = Math.max(1, Math.ceil(state.groups.length / GROUPS_A_PAGE));
  const start = state.page * GROUPS_A_PAGE;
  byId("groups").replaceChildren(...state.groups.slice(start, start + GROUPS_A_PAGE).map(card));
  byId("page").textContent = say("Page {0} of {1}", number.format(state.page + 1), number.format(pages));
  byId("previous").disabled = state.page === 0;
  byId("next").disabled = state.page + 1 >= pages;
  byId("pager").hidden = pages === 1;
}

function turn(pages) {
  state.page += pages;
  showPage();
  byId("drops").focus({ preventScroll: true });
  byId("found").scrollIntoView();
  byId("found").textContent = say("{0}, page {1}", state.found, number.format(state.page + 1));
}

// On a phone a group is one line until it is opened.
function card(group) {
  const url = drops.twins[group.twin], since = drops.firstSeen[group.twin], title = drops.twinTitles[group.twin];
  const kinds = [...new Set(group.places.flatMap((place) => drops.why[place].map((why) => drops.whys[why][0])))];
  const list = element("ol", { class: "dropped-pages" });
  const more = element("button", { type: "button", class: "more" });
  let shown = 0;
  const show = (count) => {
    const next = group.places.slice(shown, shown + count);
    const items = next.map(droppedPage);
    list.append(...items);
    shown += next.length;
    const hidden = group.places.length - shown;
    more.hidden = hidden === 0;
    more.textContent = hidden > DROPS_MORE ? say("Show {0} of {1} more", DROPS_MORE, number.format(hidden)) : say("Show {0} more", hidden);
    return items[0];
  };
  show(DROPS_AT_FIRST);
  more.addEventListener("click", () => {
    const first = show(DROPS_MORE);
    first.tabIndex = -1;
    first.focus();
  });
  const name = title || readable(url) || say("A page the log doesn't name");
  return element("article", { class: "card" }, element("details", { open: !narrow.matches },
    element("summary", {},
      element("span", { class: "tag kept" }, say("Kept")),
      pageText("h3", name),
      element("span", { class: "facts" }, countOf(group.places),
        ...kinds.map((kind) => element("span", { class: "doubt" }, say(kind))))),
    element("p", { class: "of" }, title && url ? address(url) : null,
      element("span", { class: "facts" }, since === null ? "" : say("first kept {0}", utc(since, 16)))),
    list, more));
}

const narrow = matchMedia("(max-width: 40rem)");

const FATES = { kept: "Kept too", dropped: "Dropped" };
const fateOf = (place) => (drops.near[place] ? "kept" : "dropped");

function droppedPage(place) {
  const title = drops.title[place];
  const said = answerOf(place);
  const button = element("button", { type: "button", class: "compare", "aria-haspopup": "dialog" }, say("Compare"),
    element("span", { class: "unseen" }, say(" with {0}", readable(drops.url[place]))));
  button.addEventListener("click", () => openPair(place));
  return element("li", { "data-place": place },
    element("span", { class: `tag ${fateOf(place)}` }, say(FATES[fateOf(place)])),
    element("div", { class: "what" },
      title && title.slice(0, TITLE_KEPT) !== titleOfTwin(place) ? pageText("p", title, { class: "title" }) : null,
      element("p", {}, address(drops.url[place])),
      drops.why[place].length ? element("ul", { class: "why" }, ...drops.why[place].map((why) => element("li", {}, sayDoubt(drops.whys[why][1])))) : null,
      element("details", { class: "measures" }, element("summary", {}, ...decided(place)), element("ul", { class: "facts" }, ...facts(place)))),
    element("span", { class: "do" }, said ? element("b", { class: `said said-${said === "?" ? "d" : said}` }, say(ANSWERS[said])) : null, button));
}

const reasonOf = (place) => say(data.reasons[drops.reasons[drops.reason[place]]] ?? drops.reasons[drops.reason[place]]);
const share = (value) => `${Math.round(100 * value)} %`;
const DECIDING = { content: ["content"], sketch: ["sketch"], structure: ["structure"], "content and structure": ["content", "structure"] };

// Why the page was dropped, and the measure that decided, with its limit; a near miss has both in its doubt.
function decided(place) {
  if (drops.near[place]) return [say("All measures")];
  const reason = drops.reasons[drops.reason[place]], settings = run(place)?.settings ?? {};
  const measures = (DECIDING[reason] ?? []).filter((name) => drops[name][place] !== null).map((name) => {
    const limit = settings[`${name}_distance`];
    return Number.isInteger(limit) ? say("{0} of {1} bits", drops[name][place], limit) : bits(drops[name][place]);
  });
  if (reason === "address" && drops.own[place] !== null) measures.push(say("{0} alike", share(drops.own[place])));
  if (reason === "thin") measures.push(many(drops.tokens[place], "word"));
  return [reasonOf(place), measures.length ? ": " : "", element("b", {}, measures.join(say(", ")))];
}

function facts(place) {
  const distance = (name) => (drops[name][place] === null ? null : fact(say(name), bits(drops[name][place])));
  return [
    distance("content"),
    distance("structure"),
    distance("sketch"),
    !drops.own[place] ? null : fact(say("page-specific text alike"), share(drops.own[place])),
    drops.main[place] === null ? null : fact(say("main text"), say("{0} of the page", share(drops.main[place]))),
    fact(say("words"), number.format(drops.tokens[place])),
    element("li", {}, utc(drops.time[place])),
    drops.dry[place] ? element("li", {}, say("item kept (dry run or tagged)")) : null,
  ].filter(Boolean);
}

function fact(name, value) {
  return element("li", {}, `${name} `, element("b", {}, value));
}

// The address holds what is chosen and the pair that is open: it can be linked and kept.

let pairInAddress = "";

const plain = (id) => (id === "run" ? lastRun() : "");
const chosenFilters = () => FILTERS.filter((id) => byId(id).value !== plain(id));

function writeAddress() {
  const parts = new URLSearchParams();
  for (const id of chosenFilters()) parts.set(id, byId(id).value);
  if (pairInAddress) parts.set("pair", pairInAddress);
  const written = parts.toString();
  history.replaceState(null, "", written ? `#${written}` : "#drops");
}

// Takes over what the address says; an unknown choice is none.
function readAddress() {
  const parts = new URLSearchParams(location.hash.slice(1));
  for (const id of FILTERS) {
    byId(id).value = parts.get(id) ?? plain(id);
    if (byId(id).selectedIndex === -1) byId(id).value = plain(id);
  }
  choose();
  const place = state.queue.find((place) => drops.url[place] === parts.get("pair"));
  if (place !== undefined) openPair(place);
  else byId("compare").close();
}

// After a choice: the list, and the overview where that depends on the run.
function choose() {
  search();
  showOverview();
}

function fillFilters() {
  const option = (value, name = value) => element("option", { value }, name);
  const counted = (values) => {
    const counts = new Map();
    for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
    return [...counts].sort((a, b) => b[1] - a[1]);
  };
  const named = ([value, count]) => option(value, say("{0} ({1})", value || say("none"), number.format(count)));
  const runs = data.runs.map((run, place) => option(run.id,
    say(place === data.runs.length - 1 ? "the last: {0}" : "{0}", [run.spider, utc(run.first, 16), many(run.dropped, "drop")].join(say(", ")))));
  byId("run").replaceChildren(...runs.reverse(), option(ALL_RUNS, say("all runs")));
  const spiders = new Set(data.runs.map((run) => run.spider));
  byId("spider").replaceChildren(option("", say("any")), ...[...spiders].map((spider) => option(spider)));
  byId("spider").parentElement.hidden = spiders.size < 2;
  byId("run").parentElement.hidden = data.runs.length < 2;
  const byHost = counted(hosts);
  byId("host").replaceChildren(option("", say("any")), ...byHost.slice(0, HOSTS_LISTED).map(named));
  byId("host").parentElement.hidden = byHost.length < 2;
  byId("reason").replaceChildren(option("", say("any")), ...drops.reasons.map((reason) => option(reason, say(data.reasons[reason] ?? reason))));
  const distances = [...new Set(drops.content)].filter((distance) => distance !== null).sort((a, b) => a - b);
  byId("distance").replaceChildren(option("", say("any")), ...distances.map((distance) => option(distance, bits(distance))));
}

// A sheet, as `scrapy simhash tune` reads it, with what else is known of each drop

const SHEET = {
  answer: (place) => ANSWERS[answerOf(place)],
  distance: (place) => drops.content[place],
  sketch_distance: (place) => drops.sketch[place],
  twin_url: (place) => drops.twins[drops.twin[place]],
  url: (place) => drops.url[place],
  twin_title: titleOfTwin,
  title: (place) => drops.title[place],
  words: (place) => drops.why[place].map((why) => drops.whys[why][1]).join("; "),
  reason: (place) => drops.reasons[drops.reason[place]],
  fields: (place) => drops.reasons[drops.reason[place]] === "fields" ? SHEET.words(place).split(": ")[1] : "",
  structure_distance: (place) => drops.structure[place],
  similarity: (place) => drops.own[place],
  main_share: (place) => drops.main[place],
  tokens: (place) => drops.tokens[place],
  time: (place) => utc(drops.time[place]),
  run: (place) => drops.runs[drops.run[place]],
  spider: (place) => run(place)?.spider,
};

// A spreadsheet takes a cell that begins so for a formula; no text of a page must be run.
function sheetCell(value) {
  const text = String(value ?? ""), safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",;\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function saveSheet(places, name) {
  const rows = [Object.keys(SHEET), ...places.map((place) => Object.values(SHEET).map((column) => column(place)))];
  const mark = (0.5).toLocaleString(navigator.language).includes(",") ? ";" : ","; // Excel splits cells there
  const text = rows.map((row) => `${row.map(sheetCell).join(mark)}\r\n`).join("");
  const link = element("a", { href: URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv" })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
