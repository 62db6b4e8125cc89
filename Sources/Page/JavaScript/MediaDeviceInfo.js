// MediaDeviceInfo and InputDeviceInfo: https://w3c.github.io/mediacapture-main/#device-info

class MediaDeviceInfo {
  #device;

  constructor(token, device) {
    webidl.requireInternal(token);
    this.#device = device;
  }

  get deviceId() { return this.#device.deviceId; }
  get kind() { return this.#device.kind; }
  get label() { return this.#device.label; }
  get groupId() { return this.#device.groupId; }

  toJSON() {
    const { deviceId, kind, label, groupId } = this.#device;
    return { deviceId, kind, label, groupId };
  }

  static {
    webidl.define(this, { is: (value) => #device in value });
  }
}

/// A camera or a microphone.
class InputDeviceInfo extends MediaDeviceInfo {
  #capabilities;

  constructor(token, device) {
    super(token, device);
    const { deviceId, groupId, capabilities } = device;
    this.#capabilities = deviceId === "" ? {} : { ...capabilities, deviceId, groupId };
  }

  getCapabilities() { return structuredClone(this.#capabilities); }

  static {
    webidl.define(this, { is: (value) => #capabilities in value });
  }
}

/// What a document may know of the devices, in the specification's order: microphones, cameras, outputs (section 9.2).
/// Without a grant it learns no more than that there is one.
const deviceInformation = (devices, grants) => {
  const shown = [];
  const present = devices.filter(({ isAbsent }) => !isAbsent);
  for (const kind of ["audioinput", "videoinput", "audiooutput"]) {
    const permission = kind === "videoinput" ? "camera" : "microphone";
    if (!native.policy[permission]) continue;
    const ofKind = present.filter((device) => device.kind === kind);
    if (grants[permission]) shown.push(...ofKind);
    else if (kind !== "audiooutput" && ofKind.length > 0) shown.push({ kind, deviceId: "", groupId: "", label: "", capabilities: {} });
  }
  return shown.map((device) => new (device.kind === "audiooutput" ? MediaDeviceInfo : InputDeviceInfo)(webidl.internal, device));
};
