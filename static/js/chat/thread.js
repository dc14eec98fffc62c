// The messages of one conversation: what was sent, and what commands answered. Answers are `answers.js`.
import { newCard, offerBack } from "./cards.js";
import { byId, fromTemplate, make, show } from "./dom.js";
import { decorate } from "./prose.js";
import { clock, moment } from "../times.js";

export const sourceOf = new WeakMap(); // message node -> its Markdown, for Copy and Remember

export function append(node) {
  show(byId("thread-empty"), false);
  byId("messages-inner").append(node);
  return node;
}

export function stamp(node, iso) {
  const time = node.querySelector(".act-time");
  const at = iso ? new Date(iso) : new Date();
  time.dateTime = at.toISOString();
  time.textContent = clock(at);
  time.title = moment(at);
}

export function addUser(text, { clientKey, isCommand = false } = {}) {
  const node = fromTemplate("tpl-user");
  if (isCommand) node.querySelectorAll("[data-act=remember], [data-act=edit]").forEach((button) => button.remove());
  if (!byId("chat").dataset.writes) node.querySelector("[data-act=remember]")?.remove();
  node.querySelector(".msg-body").textContent = text;
  node.dataset.key = clientKey ?? "";
  node.toggleAttribute("data-pending", Boolean(clientKey));
  stamp(node);
  return append(node);
}

export function confirmUser(message, clientKey) {
  if (message.id && byMessage(message.id)) return;
  const pending = [...document.querySelectorAll(".msg-user[data-pending]")];
  const body = (node) => node.querySelector(".msg-body").textContent;
  const node = pending.find((one) => clientKey && one.dataset.key === clientKey)
    ?? pending.find((one) => body(one) === message.content)
    ?? addUser(message.content);
  node.removeAttribute("data-pending");
  node.dataset.id = message.id ?? "";
  if (message.turn) node.dataset.turn = message.turn;
  if (message.seq) node.dataset.seq = message.seq;
  if (message.created_at) stamp(node, message.created_at);
  if (message.versions) showVersions(node, message.versions);
}

export const byMessage = (id) => document.querySelector(`.msg[data-id="${id}"]`);

// Which version of a question this is, and the way to those beside it.
function showVersions(node, { ids, at }) {
  show(node.querySelector(".versions"), ids.length > 1);
  node.querySelector(".versions-at").textContent = `${at} of ${ids.length}`;
  for (const [act, id] of [["before", ids[at - 2]], ["after", ids[at]]]) {
    const button = node.querySelector(`[data-act=${act}]`);
    button.dataset.message = id ?? "";
    button.disabled = id === undefined;
  }
}

export function hide(ids) {
  for (const id of ids) byMessage(id)?.remove();
}

export function stampAll(scope) {
  for (const time of scope.querySelectorAll(".act-time[datetime]")) stamp(time.closest(".msg"), time.dateTime);
}

export function problem(node, reason, { retryable = false, tone = "bad" } = {}) {
  const line = node.querySelector(".msg-problem");
  line.querySelector(".msg-reason").textContent = reason ?? "";
  line.dataset.tone = tone;
  show(line, Boolean(reason));
  show(line.querySelector("[data-act=retry]"), Boolean(retryable));
}

export const questionOf = (answer) => document.querySelector(`.msg-user[data-turn="${answer.dataset.turn}"]`);

// What a command answered: shown to this person, not part of the transcript.
export function addNote({ text, html, level, data }) {
  const node = make("div", `note prose${level === "warning" ? " note-warning" : ""}`);
  if (data?.turn) node.dataset.waiting = data.turn;
  if (html) node.innerHTML = html; // rendered and sanitised by the server
  else node.textContent = text;
  decorate(node);
  if (data?.rows) {
    const undo = fromTemplate("tpl-card").querySelector(".tool-undo");
    offerBack(undo, data.rows);
    node.append(undo);
  }
  append(node);
}

export function addCard(frame) {
  const holder = make("div", "cards");
  holder.append(newCard(frame));
  append(holder);
}

export function lastSeq() {
  const seqs = [...document.querySelectorAll(".msg[data-seq]")].map((node) => Number(node.dataset.seq));
  return Math.max(0, ...seqs, Number(byId("lines").dataset.lastSeq) || 0);
}
