// Asks at once, and then again and again while a part of the page is in view.

export class Polling {
  /** `look()` asks, every `everyMs`, for what is shown in `place`. */
  constructor(everyMs, look, place = document.body) {
    this.everyMs = everyMs;
    this.look = look;
    this.place = place;
  }

  start() {
    this.stop();
    this.timer = setInterval(() => {
      if (!document.hidden && this.place.checkVisibility()) void this.look();
    }, this.everyMs);
    return this.look();
  }

  stop() {
    clearInterval(this.timer);
  }
}
