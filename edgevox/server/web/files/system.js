// The models and the settings of the system view: loaded when they are first seen.

import { Checks } from "./checks.js";
import { Models } from "./models.js";
import { People } from "./people.js";
import { Rooms } from "./rooms.js";
import { Settings } from "./settings.js";
import { Voices } from "./voices.js";

export class System {
  /** `on` has act(tool, arguments), ask(text), and moved(), when this device changed its room. */
  constructor(server, loudspeaker, on) {
    this.checks = new Checks(server, loudspeaker, on);
    this.people = new People(server);
    this.rooms = new Rooms(server);
    const voices = new Voices(server, loudspeaker);
    this.models = new Models(server, voices, this.people);
    const parts = { voice: voices.element, people: this.people.element, rooms: this.rooms.element };
    this.settings = new Settings(server, this.checks, parts, on);
  }

  async watch() {
    await Promise.all([this.people.refresh(), this.rooms.watch(), this.settings.refresh(), this.models.refresh()]);
  }

  rest() {
    this.rooms.rest();
  }
}
