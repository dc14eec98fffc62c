// The model picker: asks for what the endpoints offer where that is not known yet, and again on demand.
import { byId } from "./dom.js";

const REFRESH = "refresh:"; // no model's name: after the colon of one something stands

export function setUpModelPicker(onPick = () => {}) {
  const picker = byId("pick-model");
  if (!picker) return;
  const url = picker.dataset.optionsUrl;
  let picked = picker.value;
  const addRefresh = () => url && picker.append(new Option("Refresh this list", REFRESH));

  async function load(fresh) {
    const asked = new URL(url, location.href);
    asked.searchParams.set("current", picked);
    if (fresh) asked.searchParams.set("fresh", "");
    const answer = await fetch(asked, { headers: { "X-Fragment": "1" }, credentials: "same-origin" }).catch(() => null);
    if (!answer?.ok || answer.redirected) return;
    picker.innerHTML = await answer.text(); // our own template, escaped on the server
    addRefresh();
    picker.value = picked;
  }

  async function refresh() {
    picker.value = picked;
    picker.setAttribute("aria-busy", "true");
    await load(true);
    picker.removeAttribute("aria-busy");
    try {
      picker.showPicker();
    } catch {
      // Asking took longer than a browser takes a click for one's own: it opens at the next.
    }
  }

  picker.addEventListener("change", () => {
    if (picker.value === REFRESH) {
      refresh();
      return;
    }
    picked = picker.value;
    onPick(picked);
  });
  addRefresh();
  if (url && picker.hasAttribute("data-stale")) load(false);
  return {
    // What a conversation goes on with, also when another tab or a command said so.
    show(value, label) {
      picked = value;
      if (![...picker.options].some((option) => option.value === value)) picker.prepend(new Option(label, value));
      picker.value = value;
    },
  };
}
