// Keeps the newest line in view while the reader is at the bottom, and leaves the reader alone otherwise.
import { byId, show } from "./dom.js";

const NEAR_PX = 80;

export function followBottom() {
  const box = byId("messages");
  const inner = byId("messages-inner");
  const jump = byId("jump");
  let following = true;
  const toBottom = () => {
    box.scrollTop = box.scrollHeight;
  };
  box.addEventListener("scroll", () => {
    following = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_PX;
    show(jump, !following);
  }, { passive: true });
  new ResizeObserver(() => following && toBottom()).observe(inner);
  new ResizeObserver(() => following && toBottom()).observe(box);
  jump.addEventListener("click", () => {
    following = true;
    toBottom();
    byId("composer-text").focus();
  });
  toBottom();
  return {
    follow() {
      following = true;
      toBottom();
    },
  };
}
