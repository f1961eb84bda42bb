const data = JSON.parse(document.getElementById("data").textContent);
const drops = data.drops;
const byId = (id) => document.getElementById(id);
const bits = (count) => many(count, "bit");

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
  const all = ofRun(), places = all.filter((place) => !drops.near[place]), near = all.filter((place) => drops.near[place]), runs = byId("run").value === ALL_RUNS ? data.runs : data.runs.filter((run) => run.id === byId("run").value);
  const last = runs.at(-1);
  byId("tiles").replaceChildren(...tiles(places, near, runs));
  byId("about").textContent = about(runs);
  byId("why").replaceChildren(...why(places, runs).map((text) => element("p", {}, text)));
  byId("magnets").replaceChildren(...magnets());
  showAnswered();
  showDistances(places, near, last);
  const count = (names) => {
    const counts = new Map();
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
    return [...counts].sort((a, b) => b[1] - a[1]);
  };
  const byHost = count(places.map((place) => hosts[place]));
  const reasons = count(places.map((place) => drops.reasons[drops.reason[place]]));
  if (places.length) {
    byId("reasons").replaceChildren(shares(say("Reasons"), reasons, places.length));
    const caption = byHost.length > HOSTS_SHOWN ? say("Hosts, the first of {0}", number.format(byHost.length)) : say("Hosts");
    byId("hosts").replaceChildren(shares(caption, byHost.slice(0, HOSTS_SHOWN), places.length));
  } else {
    nothing(byId("reasons"), say("Nothing was dropped, so there is no reason."));
    byId("hosts").replaceChildren();
  }
  byId("settings").replaceChildren(...(last ? settings(last) : [element("p", {}, say("The log names no run."))]));
}

function nothing(place, sentence) {
  place.observer?.disconnect();
  place.replaceChildren(element("p", {}, sentence));
}

const sum = (counts) => Object.values(counts).reduce((total, count) => total + count, 0);

// How many pages were kept, were dropped and are to check; what isn't known is no number.
function tiles(places, near, runs) {
  const known = runs.every((run) => run.kept !== null);
  const kept = sum(runs.map((run) => run.kept)), dropped = sum(runs.map((run) => run.dropped));
  const pages = many(kept + dropped + sum(runs.map((run) => sum(run.errors))), "page");
  const keptNear = Math.max(near.length, sum(runs.map((run) => run.keptBy["near miss"] ?? 0)));
  const check = (all) => number.format(all.filter((place) => drops.check[place]).length);
  const tile = (kind, name, figure, more) => element("li", { class: `tile ${kind}` }, element("span", {}, say(name)), element("b", {}, figure), element("small", {}, more));
  return [
    tile("kept", "kept", known && runs.length ? number.format(kept) : "?", keptNear ? say("{0} near another kept page", number.format(keptNear)) : ""),
    tile("dropped", "dropped", number.format(dropped), runs.length > 1 ? many(runs.length, "run") : known && runs.length ? say("of {0}", pages) : ""),
    tile("check", "to check", check([...places, ...near]), near.some((place) => drops.check[place]) ? say("{0} dropped, {1} kept", check(places), check(near)) : ""),
  ];
}

const ONLY = { run: "run {0}", spider: "spider {0}" };

function about(runs) {
  const chosen = Object.entries(data.selection).filter(([, value]) => value !== null);
  const limited = (words) => (chosen.length ? say("{0}, only {1}", words, chosen.map(([name, value]) => say(ONLY[name], value)).join(say(", "))) : words);
  if (!runs.length) return limited(data.log);
  const [first, last] = [utc(runs[0].first, 16), utc(runs.at(-1).last, 16)];
  const which = runs.length > 1 ? many(runs.length, "run") : say("run {0} of spider {1}", runs[0].id.slice(0, 8), runs[0].spider);
  return limited([data.log, which, `${first === last ? first : say("{0} to {1}", first, last)} UTC`].join(say(", ")));
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
  const of = ([checked, count]) => (checked < count ? say("{0} of {1}", number.format(checked), number.format(count)) : number.format(count));
  const named = [...kinds].sort((a, b) => b[1][1] - a[1][1]).map(([kind, counts]) => say("{0} ({1})", say(kind), of(counts)));
  const dry = places.filter((place) => drops.dry[place]).length;
  const kept = runs.every((run) => run.kept !== null), gone = drops.near.filter((near) => !near).length;
  const how = say("Answer each: copy (y), another page (n), don't know (d).");
  return [
    named.length ? say("To check: {0}. {1}", named.join(say(", ")), how) : "",
    places.length && !named.length ? say("No drop is at a threshold, has another title or language, or is one of many for a page. {0}", how) : "",
    !places.length && ofRun().length ? how : "",
    dry ? say("{0} whose items were kept (dry run or tagged).", many(dry, "drop")) : "",
    sum(errors) ? say("Kept without being judged: {0}.", Object.entries(errors).map(([kind, count]) => `${kind.replaceAll("_", " ")} ${number.format(count)}`).join(say(", "))) : "",
    runs.length && !kept ? say("How many pages were kept is not known: a run was killed, or still runs.") : "",
    gone < data.dropped
      ? say("Listed are the latest {0} drops of {1}.", number.format(gone), number.format(data.dropped)) : "",
  ].filter(Boolean);
}

// Pages for which suspiciously many were dropped.
function magnets() {
  const one = (page) => element("li", {}, many(page.dropped, "page"), say(" of "), pageText("span", page.host || say("no host")), say(" were dropped for "),
    address(page.twin_url), say(", such as "), address(page.example));
  return data.magnets.length ? [element("div", { class: "note" }, element("p", {}, say(data.causes)), element("ul", {}, ...data.magnets.map(one)))] : [];
}

function showDistances(places, near, run) {
  const threshold = run?.settings.match === "structure" ? undefined : run?.settings.content_distance;
  const dropped = byDistance(places), kept = byDistance(near);
  if (!dropped.length && !kept.length) return nothing(byId("distances"), say("No drop has a content distance."));
  distances(byId("distances"), dropped, kept, threshold);
  const without = places.length - sum(dropped);
  if (without) byId("distances").append(element("p", { class: "legend" }, say("{0} without a content distance.", many(without, "drop"))));
}

// How many pages are at each content distance.
function byDistance(places) {
  const counts = [];
  for (const place of places) if (drops.content[place] !== null) counts[drops.content[place]] = (counts[drops.content[place]] ?? 0) + 1;
  return counts;
}

// Settings that differ from the defaults, and the others folded.
function settings(run) {
  const rows = (names) => element("table", {}, element("tbody", {}, ...names.map((name) => element("tr", {},
    element("th", { scope: "row" }, `SIMHASH_${name.toUpperCase()}`), element("td", {}, asInPython(run.settings[name]))))));
  const others = Object.keys(run.settings).filter((name) => !run.changed.includes(name));
  return [
    run.changed.length ? element("div", { class: "settings" }, rows(run.changed)) : element("p", {}, say("All settings have their defaults.")),
    element("details", { class: "settings" }, element("summary", {}, many(others.length, "setting with its default", "settings with their defaults")), rows(others)),
  ];
}

function asInPython(value) {
  if (typeof value === "string") return `'${value}'`;
  if (Array.isArray(value)) return `(${value.map(asInPython).join(", ")}${value.length === 1 ? "," : ""})`;
  return { null: "None", true: "True", false: "False" }[value] ?? String(value);
}
