// The room in which this device stands, kept in this browser: "the light" means the one there.

import { element } from "./element.js";
import { t } from "./texts.js";

const KEY = "edgevox-room";

export function deviceRoom() {
  return localStorage.getItem(KEY) ?? "";
}

/** A field for it; `changed()` is called when another was chosen. */
export function deviceRoomField(rooms, changed) {
  const options = [...new Set(["", deviceRoom(), ...rooms])].map((room) => element("option", { value: room, selected: room === deviceRoom() }, room || t("noRoom")));
  const change = ({ target }) => {
    localStorage.setItem(KEY, target.value);
    changed();
  };
  const about = element("span", { class: "about" }, t("deviceRoomAbout"));
  return element("div", { class: "field" }, element("label", { for: "device-room" }, t("deviceRoom"), about), element("select", { id: "device-room", change }, ...options));
}
