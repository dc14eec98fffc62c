// The memory graph: pan, zoom, filters, the slider, and moving from node to node by keyboard.
import { explain, setUpDrawer } from "./drawer.js";
import { drawNodes, measureRoom } from "./nodes.js";

const svg = document.getElementById("graph");
if (svg) start();

function start() {
  setUpDrawer();
  const full = svg.viewBox.baseVal;
  const home = { x: full.x, y: full.y, width: full.width, height: full.height };
  let view = { ...home };
  const nodes = new Map();
  for (const node of svg.querySelectorAll(".n")) {
    const circle = node.querySelector("circle");
    const entry = { node, circle, hit: node.querySelector(".hit-area"), text: node.querySelector("text"), links: [] };
    nodes.set(node.id.slice(2), { ...entry, x: +circle.getAttribute("cx"), y: +circle.getAttribute("cy"), r: +circle.getAttribute("r") });
  }
  measureRoom(nodes);
  const edges = [...svg.querySelectorAll(".edges path")];
  for (const edge of edges) {
    nodes.get(edge.dataset.a)?.links.push(edge);
    nodes.get(edge.dataset.b)?.links.push(edge);
  }
  const label = document.getElementById("graph-label");

  const names = svg.querySelector(".nodes");

  // Units of the drawing in one pixel of the screen.
  function unit() {
    return Math.max(view.width / svg.clientWidth, view.height / svg.clientHeight);
  }

  function show(next) {
    view = next;
    svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
    svg.classList.toggle("close-up", view.width < 1000);
    drawNodes(nodes, names, unit());
  }

  function zoom(factor, at = { x: view.x + view.width / 2, y: view.y + view.height / 2 }) {
    const width = Math.min(home.width * 1.5, Math.max(120, view.width * factor));
    const scale = width / view.width;
    show({ x: at.x - (at.x - view.x) * scale, y: at.y - (at.y - view.y) * scale, width, height: view.height * scale });
  }

  const fit = () => show({ ...home });

  function pointOf(event) {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    return { x: point.x, y: point.y };
  }

  // What is shown.
  const checked = (attribute) => new Set([...document.querySelectorAll(`input[data-${attribute}]:checked`)].map((box) => box.getAttribute(`data-${attribute}`)));
  const slider = document.getElementById("similar");

  function filter() {
    const kinds = checked("node-kind");
    const links = checked("edge-kind");
    const least = slider ? +slider.value : 1;
    for (const { node } of nodes.values()) node.toggleAttribute("hidden", !kinds.has(node.dataset.kind));
    for (const edge of edges) {
      const ends = [nodes.get(edge.dataset.a), nodes.get(edge.dataset.b)];
      const kind = edge.getAttribute("class").slice(2).split(" ")[0];
      const seen = links.has(kind) && (kind !== "similar" || +edge.dataset.c >= least);
      edge.toggleAttribute("hidden", !seen || ends.some((end) => end.node.hasAttribute("hidden")));
    }
    const stop = svg.querySelector('.n[tabindex="0"]');
    if (stop && stop.hasAttribute("hidden")) makeStop([...nodes.values()].find(({ node }) => !node.hasAttribute("hidden")));
  }

  // The one node that Tab reaches, from which the arrows go on.
  function makeStop(entry) {
    svg.querySelector('.n[tabindex="0"]')?.setAttribute("tabindex", "-1");
    entry?.node.setAttribute("tabindex", "0");
  }

  function near(entry) {
    for (const edge of edges) edge.classList.toggle("lit", Boolean(entry) && entry.links.includes(edge));
    if (!entry) return label.replaceChildren();
    label.textContent = entry.node.getAttribute("aria-label");
    const size = unit();
    label.setAttribute("font-size", String(14 * size));
    label.setAttribute("stroke-width", String(4 * size));
    const half = view.width / 2;
    label.setAttribute("text-anchor", entry.x < view.x + half ? "start" : "end");
    label.setAttribute("x", String(entry.x + (entry.x < view.x + half ? 10 : -10)));
    label.setAttribute("y", String(entry.y - 10 * Math.max(1, size)));
  }

  function reach(entry) {
    makeStop(entry);
    const margin = view.width * 0.08;
    const outside = entry.x < view.x + margin || entry.x > view.x + view.width - margin || entry.y < view.y + margin || entry.y > view.y + view.height - margin;
    if (outside) show({ ...view, x: entry.x - view.width / 2, y: entry.y - view.height / 2 });
    entry.node.focus();
  }

  const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  function step(from, [dx, dy]) {
    let best = null;
    let least = Infinity;
    for (const entry of nodes.values()) {
      if (entry === from || entry.node.hasAttribute("hidden")) continue;
      const along = (entry.x - from.x) * dx + (entry.y - from.y) * dy;
      const aside = Math.abs((entry.x - from.x) * dy) + Math.abs((entry.y - from.y) * dx);
      if (along <= 0 || aside > along * 2) continue;
      const cost = along + 2 * aside;
      if (cost < least) [best, least] = [entry, cost];
    }
    if (best) reach(best);
  }

  const entryOf = (target) => nodes.get(target.closest(".n")?.id.slice(2));

  svg.addEventListener("keydown", (event) => {
    const entry = entryOf(event.target);
    if (WAYS[event.key] && entry) step(entry, WAYS[event.key]);
    else if (event.key === "+" || event.key === "=") zoom(0.8, entry);
    else if (event.key === "-") zoom(1.25, entry);
    else if (event.key === "0") fit();
    else return;
    event.preventDefault();
  });
  svg.addEventListener("focusin", (event) => near(entryOf(event.target)));
  svg.addEventListener("pointerover", (event) => near(entryOf(event.target) || entryOf(document.activeElement)));

  let drag = null;
  svg.addEventListener("pointerdown", (event) => {
    if (event.button === 0) drag = { x: event.clientX, y: event.clientY, view, moved: false };
  });
  window.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const scale = unit();
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    drag.moved ||= Math.hypot(dx, dy) > 4;
    if (drag.moved) show({ ...drag.view, x: drag.view.x - dx * scale, y: drag.view.y - dy * scale });
  });
  window.addEventListener("pointerup", () => setTimeout(() => (drag = null)));
  svg.addEventListener("dragstart", (event) => event.preventDefault());
  svg.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== svg && !svg.contains(document.activeElement)) return;
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.15 : 0.87, pointOf(event));
  }, { passive: false });
  svg.addEventListener("click", (event) => {
    const entry = entryOf(event.target);
    if (drag?.moved) return event.preventDefault();
    if (!entry) return;
    makeStop(entry);
    if (!["fact", "lesson", "episode", "past"].includes(entry.node.dataset.kind) || entry.node.matches(".n-folded")) return;
    if (event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    explain(entry.node.getAttribute("href"));
  });

  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => ({ in: () => zoom(0.75), out: () => zoom(1.33), fit })[button.dataset.zoom]());
  }
  for (const box of document.querySelectorAll("[data-node-kind], [data-edge-kind]")) box.addEventListener("change", filter);
  slider?.addEventListener("input", () => {
    document.getElementById("similar-value").textContent = (+slider.value).toFixed(2);
    filter();
  });

  const search = document.getElementById("node-search");
  function find() {
    const wanted = search.value.trim().toLowerCase();
    const found = [...nodes.values()].filter(({ node }) => !node.hasAttribute("hidden") && wanted && node.getAttribute("aria-label").toLowerCase().includes(wanted));
    for (const entry of nodes.values()) entry.node.classList.toggle("hit", found.includes(entry));
    svg.classList.toggle("searching", Boolean(wanted));
    document.getElementById("node-found").textContent = wanted ? `${found.length || "none"} of the nodes drawn` : "";
    return found;
  }
  search.addEventListener("input", find);
  document.getElementById("graph-find").addEventListener("submit", (event) => {
    event.preventDefault();
    const [first] = find();
    if (first) reach(first);
  });
  filter();
  fit();
}
