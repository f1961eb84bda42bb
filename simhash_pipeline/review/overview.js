const data = JSON.parse(document.getElementById("data").textContent);
const drops = data.drops;
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

// Overview of the chosen run, or of all

const HOSTS_SHOWN = 8;

function showOverview() {
  const all = ofRun(), places = all.filter((place) => !drops.near[place]), runs = byId("run").value === ALL_RUNS ? data.runs : data.runs.filter((run) => run.id === byId("run").value);
  const last = runs.at(-1);
  byId("verdict").textContent = verdict(places, runs) + keptNear(all.filter((place) => drops.near[place]), runs);
  byId("about").textContent = about(runs);
  byId("why").replaceChildren(...why(places, runs).map((text) => element("p", {}, text)));
  byId("swallowing").replaceChildren(...data.swallowing.map(swallowing));
  showAnswered();
  showValley(places, last);
  if (last?.slices.length) timeline(byId("timeline"), last);
  else nothing(byId("timeline"), "No page was judged in this run.");
  const count = (names) => {
    const counts = new Map();
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
    return [...counts].sort((a, b) => b[1] - a[1]);
  };
  const byHost = count(places.map((place) => hosts[place]));
  const reasons = count(places.map((place) => drops.reasons[drops.reason[place]]));
  if (places.length) {
    byId("reasons").replaceChildren(shares("Reasons", reasons, places.length));
    const caption = byHost.length > HOSTS_SHOWN ? `Hosts, the first of ${number.format(byHost.length)}` : "Hosts";
    byId("hosts").replaceChildren(shares(caption, byHost.slice(0, HOSTS_SHOWN), places.length));
  } else {
    nothing(byId("reasons"), "Nothing was dropped, so there is no reason.");
    byId("hosts").replaceChildren();
  }
  byId("settings").replaceChildren(...(last ? settings(last) : [element("p", {}, "The log names no run.")]));
}

function nothing(place, sentence) {
  place.observer?.disconnect();
  place.replaceChildren(element("p", {}, sentence));
}

const sum = (counts) => Object.values(counts).reduce((total, count) => total + count, 0);

function verdict(places, runs) {
  const dropped = sum(runs.map((run) => run.dropped));
  const urls = new Set(places.map((place) => drops.url[place])).size;
  const toCheck = places.filter((place) => drops.check[place]).length;
  const pages = runs.every((run) => run.kept !== null) ? sum(runs.map((run) => run.kept + run.dropped + sum(run.errors))) : null;
  if (!dropped) return pages ? `None of ${many(pages, "page")} was dropped` : "Nothing was dropped";
  const each = runs.length > 1 ? `${many(dropped, "drop")} in ${number.format(runs.length)} runs, of ${many(urls, "page")}`
    : pages === null ? `${many(dropped, "page")} dropped` : `${number.format(dropped)} of ${many(pages, "page")} dropped`;
  return `${each}; ${toCheck ? `${number.format(toCheck)} to check` : "none is suspicious"}`;
}

// The other error that may have been made: "; 7 kept though near, 3 to check".
function keptNear(places, runs) {
  const count = Math.max(places.length, sum(runs.map((run) => run.keptBy["told apart"] ?? 0)));
  const toCheck = places.filter((place) => drops.check[place]).length;
  return count ? `; ${number.format(count)} kept though near, ${toCheck ? `${number.format(toCheck)} to check` : "none to check"}` : "";
}

function about(runs) {
  const chosen = Object.entries(data.selection).filter(([, value]) => value !== null);
  const only = chosen.length ? `, only ${chosen.map(([name, value]) => `${name} ${value}`).join(", ")}` : "";
  if (!runs.length) return `${data.log}${only}`;
  const [first, last] = [utc(runs[0].first, 16), utc(runs.at(-1).last, 16)];
  const which = runs.length > 1 ? `${number.format(runs.length)} runs` : `run ${runs[0].id.slice(0, 8)} of spider ${runs[0].spider}`;
  return `${data.log}, ${which}, ${first === last ? first : `${first} to ${last}`} UTC${only}`;
}

// Why drops are to be checked, and what else must be known of the numbers.
function why(places, runs) {
  const kinds = new Map(), errors = {};
  for (const place of places) {
    for (const kind of new Set(drops.why[place].map((why) => drops.whys[why][0]))) {
      const [checked, count] = kinds.get(kind) ?? [0, 0];
      kinds.set(kind, [checked + drops.check[place], count + 1]);
    }
  }
  for (const run of runs) for (const [kind, count] of Object.entries(run.errors)) errors[kind] = (errors[kind] ?? 0) + count;
  const of = ([checked, count]) => (checked < count ? `${number.format(checked)} of ${number.format(count)}` : number.format(count));
  const named = [...kinds].sort((a, b) => b[1][1] - a[1][1]).map(([kind, counts]) => `${kind} (${of(counts)})`);
  const dry = places.filter((place) => drops.dry[place]).length;
  const kept = runs.every((run) => run.kept !== null), gone = drops.near.filter((near) => !near).length;
  const how = "Say of each whether it is a copy (y), another page (n), or that you don't know (d); then save the answers, and let tune find the thresholds.";
  return [
    named.length ? `To check: ${named.join(", ")}. ${how}` : "",
    places.length && !named.length ? `No drop is at a threshold, has another title or language, or is one of many for a page. ${how}` : "",
    dry ? `${many(dry, "drop")} by a dry run: the items were kept all the same.` : "",
    sum(errors) ? `Kept without being judged: ${Object.entries(errors).map(([kind, count]) => `${kind.replaceAll("_", " ")} ${number.format(count)}`).join(", ")}.` : "",
    runs.length && !kept ? "How many pages were kept is not known: a run was killed, or still runs." : "",
    gone < data.dropped
      ? `Listed are the latest ${number.format(gone)} drops of ${number.format(data.dropped)}.` : "",
  ].filter(Boolean);
}

function swallowing(page) {
  return element("p", { class: "note" },
    `${many(page.dropped, "page")} of `, pageText("span", page.host || "no host"), " were dropped as near-duplicates of ",
    address(page.twin_url), ": look at ", address(page.example), `. ${data.causes}`);
}

function showValley(places, run) {
  const counts = [], threshold = run?.settings.match === "structure" ? undefined : run?.settings.content_distance;
  for (const place of places) if (drops.content[place] !== null) counts[drops.content[place]] = (counts[drops.content[place]] ?? 0) + 1;
  const kept = data.neighbours?.counts ?? [];
  if (!counts.length && !kept.length) {
    byId("valley-says").textContent = "";
    nothing(byId("valley"), "No drop has a content distance, and no store is known.");
    return;
  }
  byId("valley-says").textContent = valleySays(kept, threshold);
  valley(byId("valley"), counts, kept, threshold);
}

function valleySays(kept, threshold) {
  if (!kept.length) return "Where the kept pages' nearest neighbours lie is not known: the store was not found.";
  const drawn = `Of ${many(data.neighbours.pages, "kept page")}${sum(kept) < data.neighbours.pages ? `, ${number.format(sum(kept))} drawn at random` : ""}`;
  if (threshold === undefined) return `${drawn}.`;
  const beyond = kept.findIndex((pages, bits) => bits > threshold && pages);
  const within = sum(kept.slice(0, threshold + 1));
  const near = within ? ` ${many(within, "page has", "pages have")} a neighbour within the threshold all the same: the second look found the pages different.` : "";
  if (beyond === -1) return `${drawn}, none has a neighbour beyond the threshold.${near}`;
  const gap = beyond - threshold - 1;
  const says = gap ? `the nearest neighbour beyond the threshold is ${bits(beyond)} away: the threshold of ${threshold} lies in a valley ${gap === 1 ? "of 1 empty bit" : `${gap} bits wide`}`
    : `${many(kept[beyond], "page has", "pages have")} a neighbour just beyond the threshold of ${threshold}: there is no valley. At ${threshold + 1} they may be dropped too: look at them by scrapy simhash tune before you set it`;
  return `${drawn}, ${says}.${near}`;
}

// Settings that differ from the defaults, and the others folded.
function settings(run) {
  const rows = (names) => element("table", {}, element("tbody", {}, ...names.map((name) => element("tr", {},
    element("th", { scope: "row" }, `SIMHASH_${name.toUpperCase()}`), element("td", {}, asInPython(run.settings[name]))))));
  const others = Object.keys(run.settings).filter((name) => !run.changed.includes(name));
  return [
    run.changed.length ? element("div", { class: "settings" }, rows(run.changed)) : element("p", {}, "All settings have their defaults."),
    element("details", { class: "settings" }, element("summary", {}, many(others.length, "setting with its default", "settings with their defaults")), rows(others)),
  ];
}

function asInPython(value) {
  if (typeof value === "string") return `'${value}'`;
  if (Array.isArray(value)) return `(${value.map(asInPython).join(", ")}${value.length === 1 ? "," : ""})`;
  return { null: "None", true: "True", false: "False" }[value] ?? String(value);
}
