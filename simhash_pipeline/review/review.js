// A person's answers, kept in the browser by the pair's addresses

const ANSWERS = { y: "copy", n: "another page", "?": "don't know" };
const KEYS = { y: "y", n: "n", d: "?", "?": "?", Backspace: "" };
const STORED_AS = `simhash answers: ${data.log}`;
const answers = new Map();
let isKept = true; // whether the browser lets the file keep anything

const pairKey = (place) => `${drops.twins[drops.twin[place]]}\n${drops.url[place]}`;

function answerOf(place) {
  return answers.get(pairKey(place)) ?? "";
}

// Of two pages; a line written by hand may name one.
const isPair = (place) => Boolean(drops.twins[drops.twin[place]]) && drops.twins[drops.twin[place]] !== drops.url[place];

function readAnswers() {
  try {
    const kept = JSON.parse(localStorage.getItem(STORED_AS) ?? "{}");
    for (const [pair, answer] of Object.entries(kept)) if (answer in ANSWERS) answers.set(pair, answer);
  } catch {
    isKept = false;
  }
}

function keepAnswers() {
  try {
    localStorage.setItem(STORED_AS, JSON.stringify(Object.fromEntries(answers)));
  } catch {
    isKept = false;
  }
}

// Each pair once, however many runs dropped it.
function answeredPlaces() {
  const pairs = new Map();
  for (const place of drops.url.keys()) if (answerOf(place)) pairs.set(pairKey(place), place);
  return [...pairs.values()];
}

function answer(value) {
  const place = open.place;
  if (place === null || !isPair(place)) return;
  if (value) answers.set(pairKey(place), value);
  else answers.delete(pairKey(place));
  keepAnswers();
  showAnswered();
  const row = document.querySelector(`li[data-place="${place}"]`);
  if (row) row.replaceWith(droppedPage(place));
  if (value && !step(1)) showAnswer();
  if (!value) showAnswer();
}

function showAnswered() {
  const places = answeredPlaces();
  const wrong = (value, near) => number.format(places.filter((place) => answerOf(place) === value && Boolean(drops.near[place]) === near).length);
  byId("save").disabled = !places.length;
  byId("answered").textContent = places.length
    ? say("{0}, {1} wrongly dropped, {2} wrongly kept.", many(places.length, "answer"), wrong("n", false), wrong("y", true))
      + (isKept ? "" : say(" This browser keeps none: save them before you close the page.")) : "";
  const toCheck = ofRun().filter((place) => drops.check[place]), left = toCheck.filter((place) => !answerOf(place)).length;
  byId("start").textContent = !toCheck.length ? say("Review {0}", countOf(ofRun()))
    : left ? say("Review the {0} to check", number.format(left)) : say("Review again");
  byId("start").disabled = !ofRun().length;
}

function saveAnswers() {
  saveSheet(answeredPlaces(), "answers.csv");
  byId("then").hidden = false;
}

// Shows only what is to be checked, and opens the first without an answer.
function startReview() {
  const toCheck = ofRun().some((place) => drops.check[place]);
  for (const id of FILTERS) if (id !== "run") byId(id).value = "";
  byId("show").value = toCheck ? "check" : "";
  choose();
  openPair(state.queue.find((place) => !answerOf(place)) ?? state.queue[0]);
}

// Two texts side by side

const open = { place: null, rows: [], at: -1, opener: null };

async function openPair(place) {
  const dialog = byId("compare");
  if (!dialog.open) open.opener = document.activeElement;
  open.place = place;
  pairInAddress = drops.url[place];
  writeAddress();
  const at = state.queue.indexOf(place);
  byId("compare-heading").textContent = say(drops.near[place] ? "Near miss {0} of {1}" : "Drop {0} of {1}", number.format(at + 1), number.format(state.queue.length));
  byId("back").disabled = at <= 0;
  byId("on").disabled = at + 1 >= state.queue.length;
  byId("pair-why").replaceChildren(...drops.why[place].map((why) => element("li", {}, sayDoubt(drops.whys[why][1]))));
  byId("pair-facts").replaceChildren(...(drops.near[place] ? [] : [element("li", {}, ...decided(place))]), ...facts(place));
  showAnswer();
  const packed = drops.pair[place] === null ? null : data.compared[drops.pair[place]];
  const texts = packed === null ? null : await unpacked(packed);
  if (open.place !== place) return; // another one was opened meanwhile
  if (!dialog.open) dialog.showModal();
  showTexts(place, texts);
}

function showAnswer() {
  const said = answerOf(open.place);
  for (const button of document.querySelectorAll(".answer")) {
    button.setAttribute("aria-pressed", button.dataset.answer === said);
    button.disabled = !isPair(open.place);
  }
}

// True if there is a drop to go to.
function step(by) {
  const place = state.queue[state.queue.indexOf(open.place) + by];
  if (place === undefined) return false;
  openPair(place);
  return true;
}

function showTexts(place, texts) {
  const [main, beside] = texts ?? [[], []];
  byId("compared").replaceChildren(
    element("caption", { class: "unseen" }, say("The stored page's text and the other page's, paragraph by paragraph")),
    element("thead", {}, element("tr", {},
      heading(say("Kept"), "kept", drops.twins[drops.twin[place]], titleOfTwin(place)),
      heading(say(FATES[fateOf(place)]), fateOf(place), drops.url[place], drops.title[place]))),
    part("judged", say("Main text: the content fingerprint is made of it"), main),
    part("beside", say("Outside it: menus, boxes, rows, comments. No part of the content fingerprint"), beside));
  byId("unknown").replaceChildren(...(texts ? [] : unknownTexts(place)));
  byId("walk").hidden = !texts;
  open.rows = [...byId("compared").querySelectorAll("tr.differs")];
  open.at = -1;
  const words = (rows) => rows.filter((row) => typeof row !== "string").length;
  byId("compare-found").textContent = open.rows.length
    ? say("{0}, {1} outside the main text", many(words(main), "difference"), number.format(words(beside)))
    : say("No difference");
  showDifferences();
  byId("texts").scrollTop = 0;
  goToDifference(1);
}

function heading(name, kind, url, title) {
  return element("th", { scope: "col" }, element("span", { class: `tag ${kind}` }, name), " ",
    title ? pageText("b", title) : null, " ", url ? address(url) : say("a page the log doesn't name"));
}

function part(name, title, rows) {
  const body = element("tbody", { class: name }, ...rows.map(row));
  if (rows.length) body.prepend(element("tr", { class: "part" }, element("th", { colspan: 2, scope: "rowgroup" }, title)));
  return body;
}

function row(pieces) {
  if (typeof pieces === "string") {
    return element("tr", { class: "same" }, pageText("td", pieces), pageText("td", pieces));
  }
  const [kept, dropped] = pieces;
  return element("tr", { class: "differs" }, cell(kept, "kept"), cell(dropped, "dropped"));
}

// Pieces of a line are by turns unmarked and marked.
function cell(pieces, kind) {
  return element("td", { dir: "auto", lang: languageOf(pieces.join("")) },
    ...pieces.map((piece, place) => (place % 2 && piece ? element("mark", { class: kind }, piece) : piece)));
}

function unknownTexts(place) {
  const pages = [drops.twins[drops.twin[place]], drops.url[place]];
  const urls = pages.map((url) => `'${url.replaceAll("'", "'\\''")}'`).join(" ");
  return [
    element("p", {}, say("The texts of these two pages were not kept; the values from the log are above.")),
    element("p", {}, say("To have them here after the next crawl, set in settings.py:"), " ", element("code", {}, "SIMHASH_KEEP_TEXT = True")),
    element("p", {}, say("To fetch and compare both now:"), " ", element("code", {}, `scrapy simhash compare ${urls}`)),
  ];
}

async function unpacked(base64) {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

function showDifferences() {
  byId("compared").classList.toggle("differences", byId("differences").checked);
}

function goToDifference(by) {
  const at = open.at + by;
  if (at < 0 || at >= open.rows.length) return;
  open.rows[open.at]?.classList.remove("at");
  open.at = at;
  open.rows[at].classList.add("at");
  const texts = byId("texts"), head = byId("compared").tHead.offsetHeight;
  texts.scrollTop = Math.max(0, open.rows[at].offsetTop - head - texts.clientHeight / 4);
}

function closed() {
  open.place = null;
  pairInAddress = "";
  writeAddress();
  if (open.opener?.isConnected) open.opener.focus();
}

// Light and dark, English and Chinese

const ofTheFile = sentencesOfTheFile();

function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  byId("theme").setAttribute("aria-pressed", dark);
}

// Writes the file's own sentences anew, and shows what the address holds.
function setLanguage(chosen) {
  language = chosen;
  document.documentElement.lang = { en: "en", zh: "zh-CN" }[chosen];
  for (const write of ofTheFile) write();
  const other = { en: ["zh-CN", "中文"], zh: ["en", "English"] }[chosen];
  byId("language").lang = other[0];
  byId("language").textContent = other[1];
  fillFilters();
  readAddress();
}

function changeLanguage() {
  writeAddress();
  setLanguage(language === "en" ? "zh" : "en");
  keepLanguage();
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input[type=search], select")) return;
  const isOpen = byId("compare").open;
  const actions = { j: () => (isOpen ? step(1) : startAt(0)), k: () => isOpen && step(-1) };
  if (isOpen) {
    Object.assign(actions, { N: () => goToDifference(1), P: () => goToDifference(-1), p: () => goToDifference(-1) });
    for (const [key, value] of Object.entries(KEYS)) actions[key] = () => answer(value);
  }
  if (!(event.key in actions)) return;
  event.preventDefault();
  actions[event.key]();
}

function startAt(at) {
  if (state.queue.length) openPair(state.queue[at]);
}

// On a phone they would fill half of the screen.
function foldFilters() {
  byId("fold").open = !narrow.matches;
}

function begin() {
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches);
  foldFilters();
  readAnswers();
  setLanguage(readersLanguage());
  let waiting;
  const chosen = () => {
    choose();
    writeAddress();
  };
  byId("search").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(chosen, 150);
  });
  for (const id of FILTERS.slice(1)) byId(id).addEventListener("change", chosen);
  byId("filters").addEventListener("submit", (event) => {
    event.preventDefault();
    chosen();
  });
  const clicks = {
    theme: () => setTheme(byId("theme").getAttribute("aria-pressed") === "false"),
    language: changeLanguage,
    previous: () => turn(-1),
    next: () => turn(1),
    start: startReview,
    save: saveAnswers,
    csv: () => saveSheet(state.places, "drops.csv"),
    back: () => step(-1),
    on: () => step(1),
    close: () => byId("compare").close(),
    "difference-back": () => goToDifference(-1),
    "difference-on": () => goToDifference(1),
    skip: (event) => {
      event.preventDefault(); // the address holds the filters
      byId("drops").focus();
    },
  };
  for (const [id, act] of Object.entries(clicks)) byId(id).addEventListener("click", act);
  for (const button of document.querySelectorAll(".answer")) button.addEventListener("click", () => answer(button.dataset.answer));
  byId("differences").addEventListener("change", showDifferences);
  byId("compare").addEventListener("close", closed);
  addEventListener("keydown", pressed);
  addEventListener("hashchange", readAddress);
  narrow.addEventListener("change", foldFilters);
}

begin();
