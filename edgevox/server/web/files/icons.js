// Icons of entities: lines on a grid of 24.

import { svg } from "./element.js";

const LINES = {
  light: ["M9 18h6", "M10 21h4", "M12 3a6 6 0 0 0-3.6 10.8c.7.6 1.1 1.3 1.1 2.2h5c0-.9.4-1.6 1.1-2.2A6 6 0 0 0 12 3z"],
  switch: ["M9 3v5", "M15 3v5", "M7 8h10v3a5 5 0 0 1-10 0z", "M12 16v5"],
  lock: ["M6 11h12v9H6z", "M8.5 11V8a3.5 3.5 0 0 1 7 0v3"],
  unlocked: ["M6 11h12v9H6z", "M8.5 11V7a3.5 3.5 0 0 1 6.8-1.2"],
  cover: ["M4 4h16", "M6 4v15h12V4", "M6 8h12", "M6 12h12", "M12 16v4"],
  door: ["M7 21V4h10v17", "M4 21h16", "M14 12v1.5"],
  climate: ["M12 4a2 2 0 0 0-2 2v8a4 4 0 1 0 4 0V6a2 2 0 0 0-2-2z", "M12 10v7"],
  media_player: ["M4 9.5v5h3.5L12 18V6L7.5 9.5z", "M15.5 9a4 4 0 0 1 0 6", "M18 6.5a8 8 0 0 1 0 11"],
  fan: ["M12 12c0-4-1-7 1.5-8s4 3-1.5 8z", "M12 12c3.5 2 6.5 2.5 6 5s-5 1.5-6-5z", "M12 12c-3.5 2-6 4-7.5 2s1.5-5 7.5-2z"],
  vacuum: ["M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16z", "M12 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z", "M5.5 7.5h13"],
  lawn_mower: ["M4 6l3 1 3 7h8l1.5 3", "M8.5 17a2 2 0 1 0 0 .01z", "M17 17.5a1.5 1.5 0 1 0 0 .01z"],
  alarm_control_panel: ["M12 3l7 3v5c0 5-3 8-7 10-4-2-7-5-7-10V6z", "M9 12l2.2 2.2L15.5 10"],
  weather: ["M8 18a4 4 0 1 1 .7-7.9A5 5 0 0 1 18 12a3 3 0 0 1 0 6z"],
  scene: ["M12 4l1.8 5.2L19 11l-5.2 1.8L12 18l-1.8-5.2L5 11l5.2-1.8z"],
  todo: ["M4 6.5l1.5 1.5L8 5.5", "M4 13l1.5 1.5L8 12", "M11.5 7H20", "M11.5 13.5H20", "M11.5 19H20"],
  sensor: ["M12 13.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z", "M8.5 15.5a5 5 0 0 1 0-7", "M15.5 8.5a5 5 0 0 1 0 7", "M5.5 18.5a9 9 0 0 1 0-13", "M18.5 5.5a9 9 0 0 1 0 13"],
  microphone: ["M12 3.5a3 3 0 0 0-3 3v5a3 3 0 0 0 6 0v-5a3 3 0 0 0-3-3z", "M5.5 11.5a6.5 6.5 0 0 0 13 0", "M12 18v3"],
};

const OTHER_NAMES = { valve: "cover", humidifier: "climate", input_boolean: "switch", script: "scene", siren: "alarm_control_panel" };
const DOORS = new Set(["door", "garage", "garage_door", "window", "opening", "gate"]);

export function icon(name) {
  const lines = LINES[name] ?? LINES[OTHER_NAMES[name]] ?? LINES.sensor;
  return svg("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" }, ...lines.map((d) => svg("path", { d })));
}

export function iconOf(thing) {
  if (DOORS.has(thing.device_class)) return icon("door");
  if (thing.device_class === "temperature") return icon("climate");
  if (thing.domain === "lock" && thing.state !== "locked") return icon("unlocked");
  return icon(thing.domain);
}
