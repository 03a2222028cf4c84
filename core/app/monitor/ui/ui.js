// The page of a running engine: asks for its state again and again, and shows what changed between two of them.
// Texts of the engine are set as texts, never as HTML.
"use strict";

const EVERY_MS = 2000, SAMPLES = 60;
const open = new Set(); // scripts whose handlers are shown
const plots = new Map(); // the last numbers, by what they are of
let before = null; // the last state
let drawn = null; // what is shown: two states, and the time between them
let adds = true; // numbers are added to plots

// --- numbers for people

function bytes(n) {
  const units = ["", "Ki", "Mi", "Gi", "Ti"];
  let unit = 0;
  for (; n >= 1024 && unit < units.length - 1; unit++) n /= 1024;
  return (unit && n < 100 ? n.toFixed(1) : n.toFixed(0)) + units[unit];
}

function rate(n) {
  return n >= 100 ? n.toFixed(0) : n > 0 ? n.toFixed(1) : "0";
}

function span(us) {
  if (us === null) return "-";
  return us < 1000 ? us.toFixed(0) + " us" : us < 1e6 ? (us / 1e3).toFixed(1) + " ms" : (us / 1e6).toFixed(1) + " s";
}

function duration(seconds) {
  const parts = [["d", 86400], ["h", 3600], ["m", 60], ["s", 1]];
  const at = parts.findIndex(([, size]) => seconds >= size);
  if (at < 0) return "0s";
  const [unit, size] = parts[at], next = parts[at + 1];
  const rest = next ? Math.floor((seconds % size) / next[1]) : 0;
  return Math.floor(seconds / size) + unit + (rest ? rest + next[0] : "");
}

function age(now, time) {
  return time ? duration(Math.max(0, (Date.parse(now) - Date.parse(time)) / 1000)) : "-";
}

// --- what changed

// What has begun again, as after a reload, counts from its start.
function grown(now, was) {
  return was !== undefined && was <= now ? now - was : now;
}

function by(list, key) {
  return new Map((list || []).map((one) => [one[key], one]));
}

const COUNTS = ["calls", "callMicroseconds", "timedCalls", "latencyMicroseconds", "cpuMilliseconds", "errors"];

function change(now, was, ms) {
  const sum = {};
  for (const field of COUNTS) sum[field] = was && ms > 0 ? grown(now[field] || 0, was[field]) : 0;
  return sum;
}

function figures(sum, ms) {
  return {
    events: ms > 0 ? sum.calls * 1000 / ms : 0,
    latency: sum.timedCalls ? sum.latencyMicroseconds / sum.timedCalls : null,
    cpu: ms > 0 ? sum.cpuMilliseconds * 100 / ms : 0,
    errors: sum.errors,
  };
}

// --- elements

function element(name, text, kind) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

// A plot of the last numbers of `key`; its text is for those who do not see it.
function plot(key, value, text) {
  const SVG = "http://www.w3.org/2000/svg", list = plots.get(key) || [];
  if (adds) list.push(value);
  if (list.length > SAMPLES) list.shift();
  plots.set(key, list);
  const top = Math.max(...list, 1e-9), svg = document.createElementNS(SVG, "svg");
  const line = document.createElementNS(SVG, "polyline");
  svg.setAttribute("viewBox", `0 0 ${SAMPLES} 18`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `${text}, highest ${top.toFixed(1)} of the last ${list.length}`);
  const at = SAMPLES - list.length;
  line.setAttribute("points", list.map((n, i) => `${at + i},${(17 - n / top * 16).toFixed(1)}`).join(" "));
  svg.append(line);
  const cell = element("td", undefined, "plot");
  cell.append(svg);
  return cell;
}

// Columns: "Heading", ">Heading" of numbers, and behind "|" classes: name for what may be long, and that which hides
// the column where the page is not wide.
function columnsOf(headings) {
  return headings.map((heading) => {
    const [, number, text, more] = heading.match(/^(>?)([^|]*)\|?(.*)$/);
    return { text, classes: [number && "number", ...more.split(" ")].filter(Boolean) };
  });
}

// A table wider than its place scrolls, by keyboard too; another one is no stop for Tab.
function noteScrolling() {
  for (const box of document.querySelectorAll(".scroll")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0; else box.removeAttribute("tabindex");
  }
}

// Rows are arrays of texts and elements.
function fill(id, headings, rows) {
  const table = document.getElementById(id), head = element("tr"), columns = columnsOf(headings);
  for (const column of columns) {
    const cell = element("th", column.text);
    cell.classList.add(...column.classes);
    cell.scope = "col";
    head.append(cell);
  }
  const body = rows.map((row) => {
    const line = element("tr", undefined, row.kind);
    row.cells.forEach((given, i) => {
      const cell = given instanceof Node ? given : element("td", given);
      cell.classList.add(...columns[i].classes);
      line.append(cell);
    });
    return line;
  });
  const focused = document.activeElement && document.activeElement.dataset.script;
  const top = element("thead"), rest = element("tbody");
  top.append(head);
  rest.append(...body);
  table.replaceChildren(top, rest);
  table.closest("section").hidden = rows.length === 0 && id !== "scripts" && id !== "caches";
  if (focused) for (const one of table.querySelectorAll("button")) if (one.dataset.script === focused) one.focus();
}

function tinted(text, kind) {
  return element("td", text, kind);
}

// --- sections

// A script that fails now and then is shown so for a minute, as the engine counts it (failingSince).
const FAILING_MS = 60000;

function fails(script, now) {
  return script.lastErrorTime && Date.parse(now) - Date.parse(script.lastErrorTime) <= FAILING_MS;
}

function health(script, now) {
  if (script.reloadError) return ["refused reload", "bad"];
  if (script.quarantined && script.quarantined.length) return ["quarantine", "bad"];
  if (script.mainState === "failed") return ["main failed", "bad"];
  if (fails(script, now)) return [`fails for ${age(now, script.failingSince)}`, "bad"];
  if (script.handlersWaitFor) return ["waits", "wait"];
  if (script.lastErrorTime) return [`failed ${age(now, script.lastErrorTime)} ago`, "wait"];
  return ["good", "good"];
}

function show(name, shown) {
  if (shown) open.add(name); else open.delete(name);
}

// `more`: the figures whose columns a narrow page does not have.
function scriptName(script, more) {
  const cell = element("td"), count = (script.eventHandlers || []).length;
  if (!count) {
    cell.append(script.name, more);
    return cell;
  }
  const button = element("button", `${script.name} ${open.has(script.name) ? "▾" : "▸"}`);
  button.dataset.script = script.name;
  button.setAttribute("aria-expanded", String(open.has(script.name)));
  button.title = `${count} handler${count === 1 ? "" : "s"}`;
  button.onclick = () => {
    show(script.name, !open.has(script.name));
    adds = false;
    draw(...drawn);
    adds = true;
  };
  cell.append(button, more);
  return cell;
}

function figureCells(key, of) {
  return [rate(of.events), plot(key + " events", of.events, "events a second"), span(of.latency),
    plot(key + " latency", of.latency || 0, "microseconds from the arrival to the call"), of.cpu.toFixed(1) + "%"];
}

function moreOf(of, rest) {
  return element("small", [of.latency === null ? "" : span(of.latency), `cpu ${of.cpu.toFixed(1)}%`, ...rest]
    .filter(Boolean).join(", "));
}

function scriptRows(now, was, ms) {
  const rows = [], engine = now.engine, known = by(was.scripts, "name");
  for (const script of now.scripts || []) {
    const old = known.get(script.name), oldHandlers = by(old && old.eventHandlers, "id");
    const sum = change(script, old, ms), parts = [];
    for (const handler of script.eventHandlers || []) {
      const own = change(handler, oldHandlers.get(handler.id), ms);
      for (const field of ["calls", "timedCalls", "latencyMicroseconds"]) sum[field] += own[field];
      parts.push([handler, figures(own, ms)]);
    }
    const [state, kind] = health(script, engine.now), of = figures(sum, ms), memory = bytes(script.memoryBytes || 0);
    const name = scriptName(script, moreOf(of, [memory, script.generation ? `generation ${script.generation}` : ""]));
    rows.push({ cells: [name, tinted(state, kind), tinted(String(script.errors || 0), script.errors ? "bad" : ""),
      String(script.pending || 0), ...figureCells(script.name, of), memory, String(script.generation || "-")] });
    for (const [handler, of] of open.has(script.name) ? parts : []) {
      const name = element("td", handler.id);
      name.append(moreOf(of, []));
      rows.push({ kind: "part", cells: [name, "", tinted(String(handler.errors), handler.errors ? "bad" : ""),
        String(handler.pending), ...figureCells(`${script.name}/${handler.id}`, of), "", ""] });
    }
  }
  return rows;
}

function problems(state) {
  const list = [], engine = state.engine;
  if (engine.unreachable) list.push(`server unreachable: ${engine.unreachable}`);
  if (engine.discoveryError) list.push(`discovery: ${engine.discoveryError}`);
  for (const script of state.scripts || []) {
    if (script.reloadError) list.push(`${script.name}: ${script.reloadError}`);
    for (const one of script.quarantined || []) list.push(`${script.name}: quarantined ${one.id}: ${one.why}`);
    if (script.mainState === "failed") list.push(`${script.name}: ${script.main}`);
    for (const one of [...script.states || [], ...script.sinks || []]) {
      if (one.error) list.push(`${script.name}: ${one.name}: ${one.error}`);
    }
    if (fails(script, engine.now)) {
      list.push(`${script.name}: fails since ${script.failingSince}, ${script.errors} errors in all`);
    }
  }
  for (const cache of state.informers || []) if (cache.cause) list.push(`${cache.name}: ${cache.cause}`);
  return list;
}

function draw(now, was, ms) {
  const state = now.status, old = was.status, engine = state.engine;
  const cpu = ms > 0 ? (engine.cpuMilliseconds - old.engine.cpuMilliseconds) * 100 / ms : 0;
  document.getElementById("engine").textContent = `${engine.version}, ${engine.ready ? "ready" : "not ready"}, up `
    + `${duration(engine.uptimeMilliseconds / 1000)}, cpu ${cpu.toFixed(1)}%, memory ${bytes(engine.memoryBytes)}, `
    + engine.server;
  const found = problems(state), box = document.getElementById("problems");
  box.hidden = found.length === 0;
  box.querySelector("ul").replaceChildren(...found.map((text) => element("li", text)));
  fill("scripts", ["Script|name", "State", ">Errors", ">Pending|wide", ">Events/s", "|widest", ">Latency|wide",
    "|widest", ">CPU|wide", ">Memory|wide", ">Generation|wider"], scriptRows(state, old, ms));
  const oldCaches = by(old.informers, "name");
  const ofCaches = ["Cache|name", "State", ">Objects", ">Memory|wide", ">Events/s", "|wider", ">Heard|wide"];
  fill("caches", ofCaches, (state.informers || []).map((one) => {
    const last = oldCaches.get(one.name), events = last && ms > 0 ? grown(one.events, last.events) * 1000 / ms : 0;
    return { cells: [one.name, tinted(one.state, one.state === "synced" ? "good" : "bad"), String(one.objects),
      bytes(one.bytes), rate(events), plot("cache " + one.name, events, "events a second"),
      age(engine.now, one.heard)] };
  }));
  const ofQueues = ["Queue|name", ">Depth", ">Processing|wide", ">Failing", ">Retries", "Script|wide name"];
  fill("queues", ofQueues, (state.queues || []).map((one) => ({
    cells: [one.name, String(one.depth), String(one.processing), tinted(String(one.failing),
      one.failing ? "bad" : ""), String(one.retries), one.script || ""] })));
  const rules = (state.audit && state.audit.byRule || []).filter((one) => one.results.fail || one.results.warn);
  fill("audits", ["Rule|name", "Severity", "Category|wide", ">Failed", ">Warned"], rules.map((one) => ({ cells: [one.id,
    one.severity, one.category, String(one.results.fail), String(one.results.warn)] })));
  const ofWrites = ["Time|wide", "Script|wide name", "Verb", "Object|name", "Result"];
  fill("writes", ofWrites, (now.writes || []).slice(-15).reverse().map((one) => {
    const object = element("td", `${one.resource || ""} ${one.object || ""}`);
    object.append(element("small", [one.time, one.script].filter(Boolean).join(", ")));
    return { cells: [one.time || "", one.script || "", one.verb || "", object,
      tinted(one.result || "", one.result === "ok" ? "good" : "bad")] };
  }));
  noteScrolling();
}

// --- the loop

async function update() {
  try {
    const response = await fetch("state.json", { cache: "no-store" });
    if (!response.ok) throw new Error(`${response.status}`);
    const now = await response.json(), was = before || now;
    const ms = now.status.engine.uptimeMilliseconds - was.status.engine.uptimeMilliseconds;
    if (ms !== 0 || !before) {
      drawn = [now, was, ms];
      draw(...drawn);
    }
    before = now;
  } catch (error) {
    document.getElementById("engine").textContent = `the engine does not respond (${error.message})`;
  }
  if (!document.hidden) setTimeout(update, EVERY_MS);
}

window.addEventListener("resize", noteScrolling);
document.addEventListener("visibilitychange", () => { if (!document.hidden) update(); });
update();
