// Times as the whole site writes them, in the reader's own zone. Swedish is the locale that writes ISO dates.
const CLOCK = new Intl.DateTimeFormat("sv", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const MOMENT = new Intl.DateTimeFormat("sv", { dateStyle: "short", timeStyle: "medium" });

export const clock = (at) => CLOCK.format(at); // 15:47
export const moment = (at) => MOMENT.format(at); // 2026-11-30 15:47:12
