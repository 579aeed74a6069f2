// The browser's microphone as frames for the socket. The browser does echo cancellation, noise suppression and gain.

import { t } from "./texts.js";

const WANTED = { channelCount: 1, echoCancellation: true, noiseSuppression: true, autoGainControl: true };

export class Microphone {
  // `on` has frame(buffer), level(0 … 1) and gone(), when the device was taken away.
  constructor(on) {
    this.on = on;
    this.stream = null;
  }

  get isOn() {
    return this.stream !== null;
  }

  // The reason why no microphone can be used; "" if one may be there.
  static trouble() {
    if (!isSecureContext) return t("microphoneInsecure");
    if (!navigator.mediaDevices?.getUserMedia) return t("microphoneMissing");
    return "";
  }

  // Throws an Error with a message for the user.
  async start(context) {
    const stream = await openMicrophone();
    try {
      await context.audioWorklet.addModule("/page/capture-worklet.js");
    } catch (error) {
      for (const track of stream.getTracks()) track.stop();
      throw new Error(t("microphoneFailed", { why: error.message }));
    }
    this.source = context.createMediaStreamSource(stream);
    this.node = new AudioWorkletNode(context, "capture", { numberOfOutputs: 0 });
    this.node.port.onmessage = ({ data }) => {
      this.on.level(data.level);
      this.on.frame(data.frame);
    };
    this.source.connect(this.node);
    this.stream = stream;
    stream.getAudioTracks()[0].onended = () => this.on.gone();
  }

  stop() {
    this.source.disconnect();
    this.node.port.postMessage("close");
    this.node.port.onmessage = null;
    for (const track of this.stream.getTracks()) track.stop();
    this.stream = null;
    this.on.level(0);
  }
}

// Throws an Error with a message for the user.
export function openMicrophone() {
  return navigator.mediaDevices.getUserMedia({ audio: WANTED }).catch((error) => {
    throw new Error(describe(error));
  });
}

function describe(error) {
  switch (error.name) {
    case "NotAllowedError":
      return t("microphoneBlocked");
    case "NotFoundError":
      return t("microphoneNone");
    default:
      return t("microphoneFailed", { why: error.message });
  }
}
