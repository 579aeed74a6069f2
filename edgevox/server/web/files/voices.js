// The voices: what is known of each, how it sounds, and which one speaks.

import { element, labelled } from "./element.js";
import { KeyedList } from "./list.js";
import { showNote } from "./markdown.js";
import { isMissing, megabytes } from "./models.js";
import { languageName, t } from "./texts.js";

const NAMED = /^[a-z0-9]+-([a-z]{2})_([A-Z]{2})-(.+)$/; // hibari-en_US-heart

export class Voices {
  constructor(server, loudspeaker) {
    this.server = server;
    this.loudspeaker = loudspeaker;
    this.near = element("ul");
    this.far = element("ul");
    this.others = element("details", { hidden: true }, element("summary", {}, t("otherLanguages")), this.far);
    this.note = element("p", { class: "result", role: "status", hidden: true });
    this.element = element("div", { class: "voices" }, this.near, this.others, this.note);
    this.lists = [this.near, this.far].map((place) => new KeyedList(place, (voice) => this.voice(voice)));
    /** The progress of a voice's download, or the button that begins it. */
    this.download = () => "";
  }

  // `models` are the voices as files, with their downloads.
  async show(models) {
    const draw = ({ data }) => {
      const voices = data.map((voice) => ({ ...models.find(({ id }) => id === voice.id), ...voice }));
      const spoken = new Set(voices.filter((voice) => voice.is_used).map((voice) => voice.language));
      const isNear = (voice) => spoken.size === 0 || spoken.has(voice.language);
      this.lists[0].show(voices.filter(isNear));
      this.lists[1].show(voices.filter((voice) => !isNear(voice)));
      this.others.hidden = voices.every(isNear);
    };
    await this.server.show("/v1/voices", draw, ({ message }) => showNote(this.note, message));
  }

  voice(voice) {
    const { id, engine, size_bytes: bytes, licence, error, is_used: isUsed } = voice;
    const [name, spoken] = nameOf(voice);
    const facts = [spoken, engine, megabytes(bytes), licence].join("\u00a0· ");
    const about = element("span", { class: "about" }, error || facts);
    const use = isUsed ? element("span", { class: "phrase" }, t("inUse")) : labelled(t("use"), name, () => void this.use(id));
    const acts = isMissing(voice) ? [this.download(voice)] : [labelled(t("test.voice"), name, ({ target }) => void this.hear(id, target)), use];
    return element("li", { class: "plan", "data-voice": id }, element("span", { class: "name", title: id }, name, about), element("div", { class: "row" }, ...acts));
  }

  async hear(id, button) {
    button.disabled = true;
    showNote(this.note, t("voiceLoads"));
    await this.try(async () => {
      const seconds = await this.loudspeaker.playFile(await this.server.sound(`/v1/voices/${id}/sample`));
      return t("check.spoke", { seconds });
    });
    button.disabled = false;
  }

  async use(id) {
    await this.try(async () => {
      const { in_force: when } = await this.server.post(`/v1/voices/${id}/use`);
      return t(when === "soon" ? "savedSoon" : "savedRestart");
    });
  }

  async try(act) {
    showNote(this.note, await act().catch((error) => error.message));
  }
}

// The name of a voice, and its language in that of the page.
function nameOf({ id, language_name: spoken }) {
  const [, tongue, region, name] = NAMED.exec(id) ?? [];
  if (name === undefined) return [id, spoken];
  const words = name.replaceAll("-", " ");
  return [words[0].toUpperCase() + words.slice(1), languageName(`${tongue}-${region}`)];
}
