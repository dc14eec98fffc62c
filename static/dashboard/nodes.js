// How the nodes of the memory graph look at a zoom: their size on the screen, and which names stand beside them.

const HIT = 14; // pixels of the screen
const wide = matchMedia("(min-width: 900px)"); // where graph.css shows the names of prefixes within prefixes

// Half the way to the next node: so far a node may be hit without taking what is another's.
export function measureRoom(nodes) {
  const all = [...nodes.values()];
  for (const one of all) {
    let least = Infinity;
    for (const other of all) if (other !== one) least = Math.min(least, Math.hypot(one.x - other.x, one.y - other.y));
    one.room = least / 2;
  }
}

// A node keeps a size one sees and hits, whatever the zoom, without covering its neighbours; of names that
// would lie on each other the first stays, top prefixes before the rest.
export function drawNodes(nodes, names, u) {
  const font = 12.5 * u;
  names.setAttribute("font-size", String(font));
  const taken = [];
  const order = [...nodes.values()].sort((a, b) => Boolean(b.text?.matches(".top")) - Boolean(a.text?.matches(".top")));
  for (const entry of order) {
    const r = Math.min(Math.max(entry.r, 4.5 * u), 11 * u, 13);
    entry.circle.setAttribute("r", String(r));
    entry.hit.setAttribute("r", String(Math.max(r, Math.min(HIT * u, entry.room))));
    if (!entry.text) continue;
    const y = entry.y - r - 5 * u;
    entry.text.setAttribute("y", String(y));
    if (!entry.text.matches(wide.matches ? ".top, .sub, .near" : ".top, .near")) continue;
    const half = entry.text.textContent.length * font * 0.29;
    const box = { left: entry.x - half, right: entry.x + half, top: y - font, bottom: y + font * 0.3 };
    const covered = taken.some((one) => one.left < box.right && one.right > box.left && one.top < box.bottom && one.bottom > box.top);
    entry.text.classList.toggle("covered", covered);
    if (!covered) taken.push(box);
  }
}
