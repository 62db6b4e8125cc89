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
    this.#capabilities = device.deviceId === "" ? {} : device.capabilities;
  }

  getCapabilities() { return structuredClone(this.#capabilities); }

  static {
    webidl.define(this, { is: (value) => #capabilities in value });
  }
}
