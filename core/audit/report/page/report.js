"use strict";
// Filters of the page. Without them all findings are there all the same, folded by rule.
(() => {
  const form = document.getElementById("filter");
  const shown = document.getElementById("shown");
  const rowHeight = 64;
  const rules = Array.from(document.querySelectorAll("section"), (section) => ({
    section,
    severity: section.dataset.severity,
    details: section.querySelector("details"),
    head: section.querySelector("summary").textContent.toLowerCase(),
    lists: Array.from(section.querySelectorAll(".rows"), (list) => ({ list, items: Array.from(list.children) })),
    wasOpen: section.querySelector("details").open,
  }));
  const texts = new Map(); // of items, once somebody has asked for a word

  function textOf(item) {
    let text = texts.get(item);
    if (text === undefined) texts.set(item, (text = item.textContent.toLowerCase()));
    return text;
  }

  function fillNamespaces() {
    const names = new Set();
    for (const { lists } of rules)
      for (const { items } of lists) for (const item of items) names.add(item.dataset.ns);
    for (const name of Array.from(names).sort()) form.ns.add(new Option(name || "(none)", "=" + name));
  }

  function filterList({ list, items }, fits) {
    let count = 0;
    for (const item of items) {
      const fit = fits(item);
      if (item.hidden === fit) item.hidden = !fit;
      count += fit;
    }
    list.hidden = count === 0;
    list.style.containIntrinsicSize = "auto " + count * rowHeight + "px";
    return count;
  }

  function apply() {
    const severities = new Set(new FormData(form).getAll("severity"));
    const words = form.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const ns = form.ns.value;
    let total = 0;
    for (const rule of rules) {
      const rest = words.filter((word) => !rule.head.includes(word));
      const fits = (item) =>
        (!ns || ns === "=" + item.dataset.ns) && rest.every((word) => textOf(item).includes(word));
      let count = 0;
      if (severities.has(rule.severity)) for (const list of rule.lists) count += filterList(list, fits);
      rule.section.hidden = count === 0;
      rule.details.open = words.length || ns ? count <= 200 : rule.wasOpen;
      total += count;
    }
    shown.textContent = total + " shown";
  }

  let timer;
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(apply, 150);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  fillNamespaces();
  form.hidden = false;
  apply();
})();
