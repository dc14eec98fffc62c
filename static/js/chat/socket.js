// The websocket of one conversation: connects, greets, reconnects with growing pauses, and notices silence.
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15000;
const SILENCE_MS = 45000; // the server sends something every 20 s; two beats missed means that the line is dead
const LEFT_FOR_GOOD = new Set([4401, 4403, 4404]);

export class Connection {
  constructor(path, { onFrame, onState }) {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    this.url = `${scheme}//${location.host}${path}`;
    this.onFrame = onFrame;
    this.onState = onState;
    this.pause = FIRST_PAUSE_MS;
    this.ready = false;
    this.beats = false;
    addEventListener("online", () => this.retryNow());
    document.addEventListener("visibilitychange", () => document.hidden || this.retryNow());
  }

  open() {
    this.socket = new WebSocket(this.url);
    this.socket.addEventListener("message", (event) => this.receive(event.data));
    this.socket.addEventListener("close", (event) => this.closed(event.code));
  }

  receive(data) {
    let frame;
    try {
      frame = JSON.parse(data);
    } catch {
      return;
    }
    if (frame.type === "ping") this.beats = true;
    if (frame.type === "hello") {
      this.ready = true;
      this.pause = FIRST_PAUSE_MS;
      this.onState("open");
    }
    this.watch();
    this.onFrame(frame);
  }

  watch() {
    clearTimeout(this.silence);
    if (this.beats) this.silence = setTimeout(() => this.socket.close(), SILENCE_MS);
  }

  closed(code) {
    clearTimeout(this.silence);
    this.ready = false;
    if (LEFT_FOR_GOOD.has(code)) {
      this.onState("gone", code);
      return;
    }
    this.onState("waiting");
    const jitter = 0.75 + Math.random() / 2;
    this.timer = setTimeout(() => this.open(), this.pause * jitter);
    this.pause = Math.min(this.pause * 2, LONGEST_PAUSE_MS);
  }

  retryNow() {
    if (this.timer && this.socket.readyState === WebSocket.CLOSED) {
      clearTimeout(this.timer);
      this.timer = null;
      this.open();
    }
  }

  // False when the line is down: the caller keeps what it wanted to say.
  send(type, fields = {}) {
    if (!this.ready || this.socket.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify({ v: 1, type, ...fields }));
    return true;
  }
}
