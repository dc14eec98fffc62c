// Tells screen readers what happens, once and in whole sentences instead of fragment by fragment.
import { byId, make } from "./dom.js";

const KEPT = 6;

export function announce(text) {
  const region = byId("live");
  if (!region || !text) return;
  region.append(make("p", "", text));
  while (region.childElementCount > KEPT) region.firstElementChild.remove();
}
