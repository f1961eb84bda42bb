const told = JSON.parse(document.getElementById("told").textContent);
const drops = told.drops;
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
  byId("swallowing").append(...summary.swallowing.map(swallowing));
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

function swallowing(page) {
  return element("p", { class: "note" },
    `${many(page.dropped, "page")} of `, pageText("span", page.host || "no host"), " were dropped as near-duplicates of ",
    address(page.twin_url), ": look at ", address(page.example), `. ${told.summary.causes}`);
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
