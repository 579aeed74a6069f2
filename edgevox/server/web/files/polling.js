// Asks again and again while the page is in view.

export class Polling {
  /** `look()` is called at once, and then every `everyMs`. */
  constructor(everyMs, look) {
    this.everyMs = everyMs;
    this.look = look;
  }

  start() {
    this.stop();
    this.timer = setInterval(() => {
      if (!document.hidden) void this.look();
    }, this.everyMs);
    return this.look();
  }

  stop() {
    clearInterval(this.timer);
  }
}
