// Keyboard shortcuts of the whole page. Typing in a field only ever triggers the ones with Ctrl or Escape.
const isTyping = (node) => node instanceof HTMLElement && (node.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(node.tagName));

export function setUpKeys({ search, help, stop }) {
  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.defaultPrevented) return;
    const dialogOpen = document.querySelector("dialog[open]") !== null;
    if ((event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === "k") {
      event.preventDefault();
      if (!dialogOpen) search();
    } else if (event.key === "?" && !isTyping(event.target) && !dialogOpen) {
      event.preventDefault();
      help();
    } else if (event.key === "Escape" && !dialogOpen) {
      stop?.();
    }
  });
}
