// The voice socket: sends hello and pings, and reconnects after a failure.

const VERSION = 1;
const FIRST_WAIT_S = 0.5;
const LONGEST_WAIT_S = 10;
const PING_EVERY_S = 15;
const PONG_WITHIN_S = 10;
const MOST_WAITING_BYTES = 64_000; // two seconds of sound
// Close codes after which reconnecting would fail again (docs/guide/voice-socket.md).
const FINAL = new Set([1007, 1009, 4400, 4401, 4403, 4406, 4409, 4429]);

export class VoiceSocket {
  // `hello()` gives the fields of the greeting. `on` has frame(object), sound(buffer) and changed(status); a
  // status is { kind: "connecting" | "open" | "waiting" | "closed", seconds, code, reason }.
  constructor(hello, on) {
    this.hello = hello;
    this.on = on;
    this.wait_s = FIRST_WAIT_S;
    this.socket = null;
    this.timer = 0;
    this.isOpen = false;
    addEventListener("online", () => this.hurry());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.hurry();
    });
  }

  connect() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.leave();
    this.on.changed({ kind: "connecting" });
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/v1/voice`);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => socket.send(JSON.stringify({ type: "hello", version: VERSION, ...this.hello() }));
    socket.onmessage = ({ data }) => this.take(data);
    socket.onclose = ({ code, reason }) => this.closed(code, reason);
    this.socket = socket;
  }

  // Returns whether it was sent.
  send(frame) {
    if (this.isOpen) this.socket.send(JSON.stringify(frame));
    return this.isOpen;
  }

  // Drops what cannot be sent now: it would come too late.
  sendSound(pcm) {
    if (this.isOpen && this.socket.bufferedAmount < MOST_WAITING_BYTES) this.socket.send(pcm);
  }

  hurry() {
    if (this.timer !== 0) this.connect();
  }

  take(data) {
    if (data instanceof ArrayBuffer) {
      this.on.sound(data);
      return;
    }
    const frame = JSON.parse(data);
    if (frame.type === "hello") {
      this.isOpen = true;
      this.wait_s = FIRST_WAIT_S;
      this.keepAlive();
      this.on.changed({ kind: "open" });
    }
    if (frame.type === "pong") clearTimeout(this.missing);
    else this.on.frame(frame);
  }

  keepAlive() {
    this.pinging = setInterval(() => {
      this.send({ type: "ping" });
      this.missing = setTimeout(() => this.lost(), PONG_WITHIN_S * 1000);
    }, PING_EVERY_S * 1000);
  }

  lost() {
    this.leave();
    this.closed(1006, "it does not answer");
  }

  // Closes without waiting for the close handshake and without a status change.
  leave() {
    clearInterval(this.pinging);
    clearTimeout(this.missing);
    this.isOpen = false;
    if (this.socket === null) return;
    this.socket.onopen = this.socket.onmessage = this.socket.onclose = null;
    this.socket.close();
    this.socket = null;
  }

  closed(code, reason) {
    this.leave();
    if (FINAL.has(code)) {
      this.on.changed({ kind: "closed", code, reason });
      return;
    }
    const seconds = this.wait_s * (0.8 + 0.4 * Math.random());
    this.wait_s = Math.min(LONGEST_WAIT_S, this.wait_s * 2);
    this.timer = setTimeout(() => this.connect(), seconds * 1000);
    this.on.changed({ kind: "waiting", code, reason, seconds });
  }
}
