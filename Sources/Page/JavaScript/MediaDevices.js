// MediaDevices: https://w3c.github.io/mediacapture-main/#mediadevices
// Nothing ever prompts: the grants of the box and the permissions policy decide at once.

class MediaDevices extends EventTarget {
  /// Whether this is the one object of its document.
  #isReal = true;

  constructor(token) {
    webidl.requireInternal(token);
    super();
  }

  /// Section 9.2. Without any grant a device shows only that it exists.
  async enumerateDevices() {
    const { devices, grants } = await listDevices();
    return deviceInformation(devices, grants);
  }

  getSupportedConstraints() {
    return Object.fromEntries(constrainableProperties.filter((name) => name !== "backgroundBlur").map((name) => [name, true]));
  }

  getUserMedia(constraints = {}) {
    return openDevices(MediaDevices.#constraints(constraints));
  }

  /// https://w3c.github.io/mediacapture-screen-share/: the box shares no screen.
  getDisplayMedia(options = {}) {
    const { video } = MediaDevices.#displayOptions(options);
    if (video === false) throw new TypeError("getDisplayMedia: video must be asked for.");
    if (!navigator.userActivation?.isActive) {
      throw new DOMException("getDisplayMedia needs a gesture of the user.", "InvalidStateError");
    }
    throw new DOMException("This box shares no screen.", "NotAllowedError");
  }

  /// https://w3c.github.io/mediacapture-output/: nobody is there to choose, so the one asked for or the first is taken.
  async selectAudioOutput(options = {}) {
    const { deviceId = "" } = MediaDevices.#outputOptions(options);
    const { devices } = await listDevices();
    const outputs = devices.filter(({ kind }) => kind === "audiooutput");
    if (outputs.length === 0) throw new DOMException("There is no audio output.", "NotFoundError");
    return new MediaDeviceInfo(webidl.internal, outputs.find((device) => device.deviceId === deviceId) ?? outputs[0]);
  }

  static #constraints;
  static #displayOptions;
  static #outputOptions;

  static {
    const { convert } = webidl;
    const choice = (value, what) => (webidl.isObject(value) ? trackConstraints(value, what) : !!value);
    this.#constraints = convert.dictionary("MediaStreamConstraints", {
      audio: { type: choice, default: false }, video: { type: choice, default: false },
      peerIdentity: convert.DOMString,
    });
    this.#displayOptions = convert.dictionary("DisplayMediaStreamOptions", {
      audio: { type: choice, default: false }, video: { type: choice, default: true },
    });
    this.#outputOptions = convert.dictionary("AudioOutputOptions", { deviceId: convert.DOMString });
    webidl.define(this, {
      is: (value) => #isReal in value,
      promises: ["enumerateDevices", "getUserMedia", "getDisplayMedia", "selectAudioOutput"],
      events: ["devicechange"],
    });
  }
}

{
  const mediaDevices = new MediaDevices(webidl.internal);
  bridge.on("devices.changed", async () => {
    const { devices, grants } = await listDevices();
    webidl.fire(mediaDevices, new DeviceChangeEvent("devicechange", { devices: deviceInformation(devices, grants) }));
  });

  const userAgent = overlay.natives(Navigator.prototype, "userAgent").get;
  /// The callback form that adapter.js and older pages look for.
  function callbackForm(constraints, successCallback, errorCallback) {
    webidl.requireArguments(arguments, 3, "Navigator.getUserMedia");
    const succeed = webidl.convert.callback(successCallback, "successCallback");
    const fail = webidl.convert.callback(errorCallback, "errorCallback");
    react(mediaDevices.getUserMedia(constraints), (stream) => void webidl.invoke(succeed, stream), (error) => void webidl.invoke(fail, error));
  }

  overlay.add(Navigator.prototype, {
    get mediaDevices() {
      // Throws on an object that is no Navigator.
      userAgent(this);
      return mediaDevices;
    },
    getUserMedia(constraints, successCallback, errorCallback) { Reflect.apply(callbackForm, this, arguments); },
    webkitGetUserMedia(constraints, successCallback, errorCallback) { Reflect.apply(callbackForm, this, arguments); },
  });
}
