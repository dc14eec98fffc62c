// Keeps the newest line in view while the reader is at the bottom, and leaves the reader alone otherwise.
import { byId, readyToWrite, show } from "./dom.js";

const NEAR_PX = 80;

export function followBottom() {
  const box = byId("messages");
  const inner = byId("messages-inner");
  const jump = byId("jump");
  let following = true;
  let before = 0;
  const toBottom = () => {
    box.scrollTop = box.scrollHeight;
  };
  box.addEventListener("scroll", () => {
    // Only a reader scrolls up. Where the bottom moved away because something came, nobody went anywhere.
    const isNear = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_PX;
    if (isNear) following = true;
    else if (box.scrollTop < before - 1) following = false;
    before = box.scrollTop;
    show(jump, !isNear && !following);
  }, { passive: true });
  new ResizeObserver(() => following && toBottom()).observe(inner);
  new ResizeObserver(() => following && toBottom()).observe(box);
  jump.addEventListener("click", () => {
    following = true;
    toBottom();
    readyToWrite();
  });
  toBottom();
  return {
    follow() {
      following = true;
      toBottom();
    },
  };
}
