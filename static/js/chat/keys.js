// Keyboard shortcuts of the whole page. All of them need Ctrl, Alt or Escape, so that none is hit by typing.
const PLAIN_ALT = { KeyN: "fresh", KeyM: "write", KeyC: "copy", KeyR: "again", KeyX: "context", KeyH: "help" };

export function setUpKeys(actions) {
  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.defaultPrevented) return;
    const isOpen = document.querySelector("dialog[open]") !== null;
    const isCommand = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey;
    const alt = event.altKey && !event.ctrlKey && !event.metaKey && !event.shiftKey ? PLAIN_ALT[event.code] : undefined;
    const action = isCommand && event.code === "KeyK" ? "search" : alt;
    if (action) {
      event.preventDefault();
      if (!isOpen) actions[action]?.();
    } else if (event.key === "Escape" && !isOpen && !document.querySelector("[popover]:popover-open")) {
      actions.stop?.();
    }
  });
}
