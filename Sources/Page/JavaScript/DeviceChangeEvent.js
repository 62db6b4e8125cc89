// DeviceChangeEvent: https://w3c.github.io/mediacapture-main/#devicechangeevent

class DeviceChangeEvent extends Event {
  #devices;
  #inserted = Object.freeze([]);

  static #Init = webidl.convert.dictionary("DeviceChangeEventInit", {
    devices: { type: webidl.convert.sequence(webidl.convert.interface(MediaDeviceInfo)), default: () => [] },
  });

  constructor(type, eventInitDict = {}) {
    webidl.requireArguments(arguments, 1, "DeviceChangeEvent");
    const { devices } = DeviceChangeEvent.#Init(eventInitDict, "eventInitDict");
    super(type, eventInitDict);
    this.#devices = Object.freeze(devices);
  }

  get devices() { return this.#devices; }
  get userInsertedDevices() { return this.#inserted; }

  static {
    webidl.define(this, { is: (value) => #devices in value, length: 1 });
  }
}
