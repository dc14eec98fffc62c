// One live conversation: turns what a person does into frames, and frames into what the page shows.
import { announce } from "./announce.js";
import { drawStoredCards, undoFailed } from "./cards.js";
import { setUpComposer, takeFirstMessage } from "./composer.js";
import { openContext } from "./dialogs.js";
import { byId, make, show } from "./dom.js";
import { handlers } from "./frames.js";
import { refreshList } from "./list.js";
import { copyText, decorate } from "./prose.js";
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
  const unsent = new Map(); // client key -> text, until the server has it
  const scroll = followBottom();
  const composer = setUpComposer({ conversation: root.dataset.conversation, onSend: send, onStop: stop });
  const connection = new Connection(root.dataset.socket, { onFrame, onState });
  const running = new Set(root.dataset.running.split(" ").filter(Boolean));
  const context = { connection, unsent, running, notify, settle, greet };
  const on = handlers(context);

  for (const turn of running) thread.answerOf(turn);
  drawStoredCards(byId("messages-inner"));
  byId("messages-inner").querySelectorAll(".prose").forEach(decorate);
  byId("messages-inner").addEventListener("click", act);
  settle();
  connection.open();

  function onFrame(frame) {
    on[frame.type]?.(frame);
  }

  // After each greeting: what was missed, then what was never received, then the text the start page brought along.
  function greet() {
    const [live] = thread.liveTurns();
    connection.send("resume", { after_seq: thread.lastSeq(), turn: live?.turn ?? null, offset: live?.offset ?? 0 });
    for (const [key, text] of unsent) connection.send("send", { client_key: key, text });
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
    const key = crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`;
    unsent.set(key, text);
    thread.addUser(text, { clientKey: key });
    connection.send("send", { client_key: key, text });
  }

  function stop() {
    for (const turn of running) connection.send("stop", { turn });
  }

  function settle(spoken) {
    composer.running(running.size > 0);
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

  function act(event) {
    const button = event.target.closest("[data-act]");
    if (!button) return;
    const message = button.closest(".msg");
    const body = message?.querySelector(".msg-body");
    const text = () => thread.sourceOf.get(message) ?? body.innerText.trim();
    const actions = {
      copy: () => copyText(text(), button),
      context: () => openContext(message.dataset.turn),
      remember: () => {
        const chosen = getSelection();
        const part = chosen && !chosen.isCollapsed && message.contains(chosen.anchorNode) ? chosen.toString() : text();
        connection.send("command", { text: `/remember ${part.trim()}` });
      },
      retry: () => connection.send("retry", { turn: message.dataset.turn }),
      undo: () => {
        button.disabled = connection.send("undo", { kind: button.dataset.kind, id: Number(button.dataset.id) });
        setTimeout(undoFailed, 8000);
      },
    };
    actions[button.dataset.act]?.();
  }

  return { stop };
}
