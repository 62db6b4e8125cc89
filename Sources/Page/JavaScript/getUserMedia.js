// What getUserMedia does: https://w3c.github.io/mediacapture-main/#dom-mediadevices-getusermedia

/// The box's devices and what this document may use: `{devices, grants: {camera, microphone}}`.
const listDevices = async () => {
  const { devices, grants } = await bridge.request("devices.list", {});
  for (const device of devices) {
    // No processing of the box tells voices apart.
    if (device.kind === "audioinput") device.capabilities.voiceIsolation ??= [false];
  }
  return { devices, grants };
};

/// Opens one device for each kind that the converted constraints ask for; a promise of the stream.
const openDevices = (() => {
  const kinds = [
    { kind: "audio", permission: "microphone", device: "audioinput" },
    { kind: "video", permission: "camera", device: "videoinput" },
  ];

  /// Throws unless the permissions policy and the grants leave the document every kind it asks for.
  function checkPermission(wanted, grants) {
    for (const { permission } of wanted) {
      if (!native.policy[permission]) {
        throw new DOMException(`The permissions policy keeps the ${permission} from this document.`, "NotAllowedError");
      }
      if (grants && !grants[permission]) {
        throw new DOMException(`This origin has no grant for the ${permission}.`, "NotAllowedError");
      }
    }
  }

  /// SelectSettings over all devices of a kind: the nearest one, and how to set it. One that is away is taken when no other will do: its track is
  /// muted until it is back.
  function choose(devices, constraints, kind) {
    const present = devices.filter(({ isAbsent }) => !isAbsent);
    if (present.length === 0 || present.length === devices.length) return nearest(devices, constraints, kind);
    try {
      return nearest(present, constraints, kind);
    } catch {
      return nearest(devices, constraints, kind);
    }
  }

  function nearest(devices, constraints, kind) {
    let best = null;
    let failure = null;
    for (const device of devices) {
      const capabilities = { ...device.capabilities, deviceId: device.deviceId, groupId: device.groupId };
      try {
        const settings = selectSettings(constraints, capabilities, kind);
        const distance = fitnessDistance(constraints, capabilities, kind);
        if (!best || distance < best.distance) best = { device, capabilities, settings, distance };
      } catch (error) {
        failure ??= error;
      }
    }
    if (!best) throw failure;
    return best;
  }

  async function open({ device, capabilities, settings }, constraints, kind) {
    const number = bridge.identifier();
    const id = crypto.randomUUID();
    const answer = await bridge.request("track.open", { track: number, trackId: id, deviceId: device.deviceId, kind, settings });
    return makeTrack({
      number, id, kind, label: answer.label ?? device.label, source: "device", isMuted: answer.isMuted ?? false, capabilities, constraints,
      settings: { ...settings, ...answer.settings, deviceId: device.deviceId, groupId: device.groupId },
    });
  }

  return async (constraints) => {
    const wanted = kinds.filter(({ kind }) => constraints[kind] !== false);
    if (wanted.length === 0) throw new TypeError("getUserMedia: audio or video must be asked for.");
    if (document.defaultView !== globalThis) throw new DOMException("The document is not active.", "InvalidStateError");
    checkPermission(wanted, null);
    const { devices, grants } = await listDevices();
    checkPermission(wanted, grants);
    const choices = wanted.map(({ kind, device }) => {
      const ofKind = devices.filter((candidate) => candidate.kind === device);
      if (ofKind.length === 0) throw new DOMException("The box has no such device.", "NotFoundError");
      const given = constraints[kind] === true ? {} : constraints[kind];
      return { kind, given, choice: choose(ofKind, given, kind) };
    });
    const opened = await Promise.allSettled(choices.map(({ kind, given, choice }) => open(choice, given, kind)));
    const refused = opened.find(({ status }) => status === "rejected");
    if (refused) {
      for (const { value } of opened) value?.stop();
      throw refused.reason;
    }
    return makeStream({ id: crypto.randomUUID(), tracks: opened.map(({ value }) => value) });
  };
})();
