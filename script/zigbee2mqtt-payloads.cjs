// The discovery messages that Zigbee2MQTT makes for every device that it knows, one JSON line each:
//   node script/zigbee2mqtt-payloads.cjs FOLDER_WITH_NODE_MODULES FILE
"use strict";
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

const modules = path.join(path.resolve(process.argv[2]), "node_modules");
const data = fs.mkdtempSync(path.join(os.tmpdir(), "zigbee2mqtt-"));
fs.writeFileSync(path.join(data, "configuration.yaml"), "version: 4\nhomeassistant: {enabled: true}\n");
process.env.ZIGBEE2MQTT_DATA = data;
process.on("exit", () => fs.rmSync(data, {recursive: true}));

const converters = require(path.join(modules, "zigbee-herdsman-converters"));
const devices = require(path.join(modules, "zigbee-herdsman-converters/dist/devices/index.js")).default;
const HomeAssistant = require(path.join(modules, "zigbee2mqtt/dist/extension/homeassistant.js")).default;
const origin = require(path.join(modules, "zigbee2mqtt/package.json"));

async function main() {
    const lines = [];
    const mqtt = {
        publish: async (topic, payload) =>
            lines.push(JSON.stringify({topic: `homeassistant/${topic}`, payload: JSON.parse(payload)})),
    };
    const unused = {};
    const extension = new HomeAssistant(unused, mqtt, unused, unused, unused, unused, unused, unused);
    // What its start would set, with a coordinator and a broker.
    extension.discoveryOrigin = {name: "Zigbee2MQTT", sw: origin.version, url: "https://www.zigbee2mqtt.io"};
    extension.bridgeIdentifier = "zigbee2mqtt_bridge_0x1";
    let failed = 0;
    for (const [number, raw] of devices.entries()) {
        const ieeeAddr = `0x${number.toString(16).padStart(16, "0")}`;
        const zh = {endpoints: [], ieeeAddr, modelID: raw.model, getEndpoint: () => ({getClusterAttributeValue: () => undefined})};
        try {
            const definition = converters.prepareDefinition(raw);
            await extension.discover({
                zh,
                definition,
                ieeeAddr,
                ID: ieeeAddr,
                name: `device_${number}`,
                options: {ID: ieeeAddr},
                interviewed: true,
                isDevice: () => true,
                isGroup: () => false,
                endpoint: () => undefined,
                exposes: () =>
                    typeof definition.exposes === "function" ? definition.exposes(zh, {}) : definition.exposes,
            });
        } catch (error) {
            failed += 1;
            console.error(`${raw.model}: ${error.message}`);
        }
    }
    fs.writeFileSync(process.argv[3], `${lines.join("\n")}\n`);
    console.log(`${devices.length - failed} of ${devices.length} devices`);
}

main();
