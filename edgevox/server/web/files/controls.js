// What can be done with an entity on the page. Every act is one tool call, with the policy of a spoken command.

const OFF = new Set(["off", "standby", "idle", "unavailable", "unknown"]);
const SWITCHED = new Set(["light", "switch", "fan", "input_boolean", "humidifier", "siren", "climate", "media_player", "automation"]);
const ROBOTS = { vacuum: ["vacuum_start", "vacuum_return_to_base"], lawn_mower: ["lawn_mower_start_mowing", "lawn_mower_dock"] };
const COLOURED = ["hs", "xy", "rgb", "rgbw", "rgbww"];

/**
 * An act that a tap makes. `word` is its text in the catalogue; `isPressed` is set for what is switched on and off.
 * @typedef {{ tool: string, values?: object, word: string, isPressed?: boolean }} Act
 */

/** @returns {Act | null} the act of a tap on an entity; null for what can only be looked at */
export function tapOf({ domain, state }) {
  if (SWITCHED.has(domain)) {
    const isPressed = !OFF.has(state);
    return { tool: isPressed ? "turn_off" : "turn_on", word: isPressed ? "act.turn_off" : "act.turn_on", isPressed };
  }
  if (domain in ROBOTS) {
    const [start, dock] = ROBOTS[domain];
    return state === "docked" ? { tool: start, word: "act.start" } : { tool: dock, word: "act.dock" };
  }
  switch (domain) {
    case "cover":
    case "valve":
      return state === "closed" ? { tool: "turn_on", word: "act.open" } : { tool: "turn_off", word: "act.close" };
    case "lock":
      return state === "locked" ? { tool: "turn_off", word: "act.unlock" } : { tool: "turn_on", word: "act.lock" };
    case "alarm_control_panel":
      return state === "disarmed"
        ? { tool: "alarm_set_mode", values: { mode: "away" }, word: "act.arm" }
        : { tool: "alarm_set_mode", values: { mode: "disarmed" }, word: "act.disarm" };
    case "scene":
    case "script":
      return { tool: "turn_on", word: "act.activate" };
    default:
      return null;
  }
}

/** @returns {Act | null} the second act of a player: pause, or play on */
export function playOf({ domain, state }) {
  if (domain !== "media_player") return null;
  if (state === "playing") return { tool: "media_pause", word: "act.pause" };
  return state === "paused" ? { tool: "media_unpause", word: "act.resume" } : null;
}

/**
 * The level that a slider sets: of a lamp that is on, a cover, a thermostat, …
 * @returns {{ tool: string, slot: string, value: number, min: number, max: number, step: number, unit: string } | null}
 */
export function levelOf({ domain, state, attributes }) {
  const percent = (tool, slot, min = 0) => {
    const value = attributes[slot];
    return typeof value === "number" ? { tool, slot, value, min, max: 100, step: 1, unit: " %" } : null;
  };
  if (domain === "cover" || domain === "valve") return percent("set_position", "position");
  if (OFF.has(state)) return null;
  switch (domain) {
    case "light":
      return percent("light_set", "brightness", 1);
    case "fan":
      return percent("fan_set_speed", "percentage");
    case "media_player":
      return percent("set_volume", "volume_level");
    case "climate":
      return temperature(attributes);
    default:
      return null;
  }
}

/** @returns {string | null} the colour of a lamp that is on and has colours, as #rrggbb */
export function colourOf({ domain, state, attributes, color }) {
  const isColoured = "color" in attributes || COLOURED.some((mode) => attributes.supported_color_modes?.includes(mode));
  return domain === "light" && state === "on" && isColoured ? (color ?? "#ffffff") : null;
}

function temperature({ temperature: value, min_temp: min = 7, max_temp: max = 35, target_temp_step: step = 0.5, unit = "°" }) {
  return typeof value === "number" ? { tool: "climate_set_temperature", slot: "temperature", value, min, max, step, unit: ` ${unit}` } : null;
}
