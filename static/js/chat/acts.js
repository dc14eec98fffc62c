// What the buttons under a message do.
import { undoFailed } from "./cards.js";
import { openContext } from "./dialogs.js";
import { readyToWrite } from "./dom.js";
import { startEdit } from "./edit.js";
import { copyText } from "./prose.js";
import * as thread from "./thread.js";

const UNDO_WAIT_MS = 8000;

// A message as it was written: of a stored answer the page has only what was made of it.
async function textOf(message) {
  const body = message.querySelector(".msg-body");
  if (body.classList.contains("plain")) return body.textContent;
  if (!thread.sourceOf.has(message) && message.dataset.seq) {
    const answer = await fetch(`messages/${message.dataset.seq}/`, { credentials: "same-origin" });
    if (answer.ok && !answer.redirected) thread.sourceOf.set(message, await answer.text());
  }
  return thread.sourceOf.get(message) ?? body.innerText.trim();
}

// What is marked in a message, or all of it.
async function chosenText(message) {
  const marked = getSelection();
  return marked && !marked.isCollapsed && message.contains(marked.anchorNode) ? marked.toString() : textOf(message);
}

export function messageActs({ connection, edit, showVersion }) {
  return {
    copy: async (message, button) => copyText(await textOf(message), button),
    context: (message) => openContext(message.dataset.turn),
    remember: async (message) => connection.send("command", { text: `/remember ${(await chosenText(message)).trim()}` }),
    retry: (message) => connection.send("retry", { turn: message.dataset.turn }),
    edit: (message) => startEdit(message, (text) => edit(message, text)),
    before: (_message, button) => showVersion(button),
    after: (_message, button) => showVersion(button),
    answer(_message, button) {
      const { call, choice } = button.dataset;
      const turn = button.closest(".msg").dataset.turn;
      if (!connection.send("answer", { turn, call, choice })) return;
      for (const one of button.parentElement.children) one.disabled = true;
      readyToWrite();
    },
    again(message) {
      const retry = message.querySelector("[data-act=retry]");
      const question = thread.questionOf(message);
      if (!retry.hidden) retry.click();
      else if (question) edit(question, question.querySelector(".msg-body").textContent);
    },
    undo(_message, button) {
      button.disabled = connection.send("undo", { kind: button.dataset.kind, id: Number(button.dataset.id) });
      setTimeout(undoFailed, UNDO_WAIT_MS);
    },
    restore(_message, button) {
      button.disabled = connection.send("restore", { rows: JSON.parse(button.dataset.forgotten) });
      setTimeout(undoFailed, UNDO_WAIT_MS);
    },
  };
}
