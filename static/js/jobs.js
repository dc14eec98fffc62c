// The jobs page: rows follow the socket, actions go without leaving the page, focus and folds stay where they are.
import { Connection } from "./chat/socket.js";

const list = document.getElementById("jobs");
const form = document.getElementById("jobs-form");
const told = document.getElementById("jobs-told");
const live = document.getElementById("jobs-live");

function parse(html) {
  const template = document.createElement("template");
  template.innerHTML = html; // our own template, escaped on the server
  return template.content.firstElementChild;
}

function say(text) {
  told.textContent = text;
}

// Where the keyboard is inside a row, by what a new row calls the same thing.
function focusIn(row) {
  const at = document.activeElement;
  if (!row.contains(at)) return null;
  return at.dataset.act ? `[data-act="${at.dataset.act}"]` : at.tagName.toLowerCase();
}

function update(job) {
  const fresh = parse(job.html);
  const old = document.getElementById(fresh.id);
  if (!old) {
    list.append(fresh);
    return;
  }
  const wasOpen = old.querySelector("details")?.open;
  const focus = focusIn(old);
  const before = old.dataset.state;
  old.replaceWith(fresh);
  const fold = fresh.querySelector("details");
  if (fold && wasOpen) fold.open = true;
  if (focus) (fresh.querySelector(focus) || fresh.querySelector("[data-act]") || focusable(fresh)).focus();
  if (before !== job.state) say(`${job.kind.replaceAll("_", " ")}, job ${job.id}: ${job.state}`);
}

function focusable(row) {
  row.tabIndex = -1;
  return row;
}

function arrange(order) {
  const rows = new Map([...list.children].map((row) => [Number(row.dataset.job), row]));
  const wanted = new Set(order);
  for (const [id, row] of rows) if (!wanted.has(id)) row.remove();
  order.forEach((id, at) => {
    const row = rows.get(id);
    if (!row || list.children[at] === row) return;
    const focused = row.contains(document.activeElement) ? document.activeElement : null;
    list.insertBefore(row, list.children[at] ?? null);
    focused?.focus();
  });
  document.getElementById("jobs-empty").hidden = order.length > 0;
}

function receive(frame) {
  if (frame.type === "error") say(frame.message);
  if (frame.type !== "hello" && frame.type !== "jobs") return;
  frame.jobs.forEach(update);
  arrange(frame.order);
  // The frame's script puts local times on whatever was swapped in.
  document.dispatchEvent(new CustomEvent("htmx:afterSwap", { detail: {}, bubbles: true }));
  connection.send("ack", { seq: frame.seq });
}

function state(now) {
  live.hidden = false;
  live.querySelector(".dot").className = now === "open" ? "dot dot-good" : "dot dot-warn";
  const words = { open: "Live", waiting: "Reconnecting", gone: "Not live: reload to sign in again" };
  live.querySelector(".live-text").textContent = words[now];
}

document.addEventListener("submit", async (event) => {
  const button = event.submitter;
  if (event.target !== form || !button?.dataset.act) return;
  event.preventDefault();
  if (button.getAttribute("aria-disabled")) return;
  button.setAttribute("aria-disabled", "true"); // a disabled one would lose the keyboard
  try {
    const answer = await fetch(button.formAction, {
      method: "POST",
      body: new FormData(form),
      headers: { "X-Fragment": "1" },
      credentials: "same-origin",
    });
    const isJson = answer.headers.get("Content-Type")?.match(/^application\/.*json/);
    const body = isJson ? await answer.json() : {};
    say(body.message || body.detail || "That did not work. Reload the page to see why.");
  } catch {
    say("The site does not answer.");
  }
  button.removeAttribute("aria-disabled");
});

const connection = new Connection("/ws/jobs/", { onFrame: receive, onState: state });
connection.open();
