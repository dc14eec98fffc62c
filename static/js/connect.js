// Copy buttons. Hidden without this script, because they would do nothing.
async function copy(button) {
  const label = button.querySelector("[data-copy-label]");
  const source = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(source.textContent);
    label.textContent = "Copied";
  } catch {
    // No clipboard on plain http beyond this machine: selecting is the next best thing.
    getSelection().selectAllChildren(source);
    label.textContent = "Selected";
  }
  setTimeout(() => (label.textContent = "Copy"), 2000);
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", () => copy(button));
}
