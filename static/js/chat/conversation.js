// One live conversation: turns what a person does into frames, and frames into what the page shows.
import { messageActs } from "./acts.js";
import { announce } from "./announce.js";
import { answerOf, forget, liveTurns, placeCards } from "./answers.js";
import { drawStoredCards } from "./cards.js";
import { setUpComposer, takeFirstMessage } from "./composer.js";
import { byId, make, show } from "./dom.js";
import { handlers } from "./frames.js";
import { refreshList } from "./list.js";
import { setUpModelPicker } from "./models.js";
import { decorate } from "./prose.js";
import { followBottom } from "./scroll.js";
import { Connection } from "./socket.js";
import * as thread from "./thread.js";

// A word after a slash; a path such as /etc/hosts is a message. Commands are sent once and never again by themselves.
const COMMAND = /^\/[a-z]+(\s|$)/;
const GONE = {
  4401: "You are logged out. Log in again to go on.",
  4403: "This page may not connect: the site runs under another address than it was set up for.",
  4404: "This conversation is gone, or you may no longer read it.",
};

export function startConversation() {
  const root = byId("chat");
  const inner = byId("messages-inner");
  const unsent = new Map(); // client key -> fields of the frame, until the server has it
  const scroll = followBottom();
  const composer = setUpComposer({ conversation: root.dataset.conversation, onSend: send, onStop: stop, onUp: editLast });
  const connection = new Connection(root.dataset.socket, { onFrame, onState });
  const running = new Set(root.dataset.running.split(" ").filter(Boolean));
  const picker = setUpModelPicker((value) => connection.send("command", { text: `/model ${value || "default"}` }));
  const on = handlers({ connection, unsent, running, picker, notify, settle, greet, reread, refused });
  const acts = messageActs({ connection, edit, showVersion });
  let versionShown = null;
  let modeWanted = ""; // picked while the line was down

  drawLines();
  inner.addEventListener("click", (event) => {
    const button = event.target.closest("[data-act]");
    if (button) acts[button.dataset.act]?.(button.closest(".msg"), button);
  });
  byId("pick-mode").addEventListener("change", (event) => setMode(event.target.value));
  settle();
  connection.open();

  function onFrame(frame) {
    on[frame.type]?.(frame);
  }

  function drawLines() {
    for (const turn of running) answerOf(turn);
    drawStoredCards(inner);
    inner.querySelectorAll(".msg-assistant").forEach(placeCards);
    thread.stampAll(inner);
    inner.querySelectorAll(".prose").forEach(decorate);
  }

  // The lines of the branch that is visible by now, as the server renders them.
  async function reread() {
    const answer = await fetch(location.href, { headers: { "X-Fragment": "1" }, credentials: "same-origin" });
    if (!answer.ok || answer.redirected) return location.reload();
    inner.innerHTML = await answer.text(); // our own template, escaped on the server
    forget();
    drawLines();
    const button = versionShown && thread.byMessage(versionShown)?.querySelector(".versions button:not(:disabled)");
    if (button) {
      button.focus();
      announce(`Version ${button.parentElement.querySelector(".versions-at").textContent}.`);
    }
    versionShown = null;
  }

  // After each greeting: what was missed, then what was never received, then the text the start page brought along.
  function greet() {
    const [live] = liveTurns();
    connection.send("resume", { after_seq: thread.lastSeq(), turn: live?.turn ?? null, offset: live?.offset ?? 0 });
    setMode(modeWanted);
    for (const [key, fields] of unsent) connection.send("send", { client_key: key, ...fields });
    const first = takeFirstMessage();
    if (first && !document.querySelector(".msg-user")) send(first);
  }

  function onState(state, code) {
    const line = byId("connection");
    if (state === "gone") line.textContent = GONE[code] ?? "The connection was closed.";
    if (state === "waiting") line.textContent = "Reconnecting… Your messages are kept.";
    show(line, state !== "open");
    byId("send").disabled = state === "gone";
  }

  function send(text) {
    byId("dock-notices").replaceChildren();
    scroll.follow();
    if (COMMAND.test(text)) {
      thread.addUser(text, { isCommand: true });
      if (!connection.send("command", { text })) notify("There is no connection right now. Try again in a moment.", "warn");
      return;
    }
    thread.addUser(text, { clientKey: submit({ text }) });
  }

  function submit(fields) {
    const key = crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`;
    unsent.set(key, fields);
    connection.send("send", { client_key: key, ...fields });
    return key;
  }

  // The same question in other words, or once more: what followed it becomes another version.
  function edit(question, text) {
    question.querySelector(".msg-body").textContent = text;
    question.toggleAttribute("data-pending", true);
    question.dataset.key = submit({ text, edits: Number(question.dataset.id) });
    scroll.follow();
  }

  // What the server would not take goes back to where it came from.
  function refused(key) {
    const fields = unsent.get(key);
    unsent.delete(key);
    if (!fields) return;
    if (fields.edits) reread();
    else document.querySelector(`.msg-user[data-key="${key}"]`)?.remove();
    const box = byId("composer-text");
    if (!box.value) box.value = fields.text;
    box.dispatchEvent(new Event("input"));
  }

  function setMode(mode) {
    modeWanted = mode && !connection.send("command", { text: `/${mode}` }) ? mode : "";
  }

  function showVersion(button) {
    if (!button.dataset.message) return;
    versionShown = button.dataset.message;
    connection.send("branch", { message: Number(versionShown) });
  }

  function last(selector) {
    return [...inner.querySelectorAll(selector)].at(-1);
  }

  function press(act) {
    last(`.msg-assistant [data-act=${act}]`)?.click();
  }

  function editLast() {
    if (!running.size) last(".msg-user[data-turn] [data-act=edit]")?.click();
  }

  function stop() {
    for (const turn of running) connection.send("stop", { turn });
  }

  function settle(spoken) {
    composer.running(running.size > 0);
    root.toggleAttribute("data-busy", running.size > 0);
    if (spoken) announce(spoken);
    if (spoken !== undefined) refreshList();
  }

  function notify(text, level = "info") {
    const box = make("p", `notice${level === "info" ? "" : level === "error" ? " notice-bad" : " notice-warn"}`);
    const close = make("button", "btn btn-quiet btn-s", "Dismiss");
    close.type = "button";
    close.addEventListener("click", () => box.remove());
    box.append(make("span", "", text), close);
    byId("dock-notices").replaceChildren(box);
    announce(text);
  }

  return {
    stop,
    copy: () => press("copy"),
    context: () => press("context"),
    again: () => running.size || press("again"),
  };
}
