// The list

const GROUPS_A_PAGE = 20;
const DROPS_AT_FIRST = 5;
const DROPS_MORE = 50;

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
    drops.own[place] === null ? null : fact("own text alike", `${Math.round(100 * drops.own[place])} %`),
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
    ? `${many(differing, "paragraph")} of ${number.format(rows.length)} ${differing === 1 ? "differs" : "differ"}.` : "The main texts are the same.";
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
