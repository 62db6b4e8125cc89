// Stands in for the box behind the bridge: enough of RFC 8829 for two connections of one page to negotiate, no media.
// `box.messages` records what the page sent; `box.tell(message)` sends to the page.

const box = (() => {
  const messages = [];
  const connections = new Map();
  const handlers = {};
  let receive = null;
  let nextIdentifier = 2;
  const even = () => (nextIdentifier += 2);

  const reverse = (direction) => ({ sendonly: "recvonly", recvonly: "sendonly" })[direction] ?? direction;
  const sends = (direction) => direction === "sendrecv" || direction === "sendonly";
  const receives = (direction) => direction === "sendrecv" || direction === "recvonly";
  const join = (send, take) => (send ? (take ? "sendrecv" : "sendonly") : take ? "recvonly" : "inactive");

  /// Every answer and event is a task of its own.
  const { port1, port2 } = new MessageChannel();
  const waiting = [];
  port1.onmessage = () => waiting.shift()();
  function task(steps) {
    waiting.push(steps);
    port2.postMessage(0);
  }

  function tell(message) {
    task(() => receive(0, 0, JSON.stringify(message)));
  }

  function parse(sdp) {
    return sdp.split(/\r\n(?=m=)/).slice(1).map((section) => {
      const find = (name) => new RegExp(`^a=${name}:(.*)$`, "m").exec(section)?.[1].trim();
      return {
        kind: /^m=(\w+)/.exec(section)[1],
        isRejected: / 0 /.test(section.split("\r\n")[0]),
        mid: find("mid"),
        direction: /^a=(sendrecv|sendonly|recvonly|inactive)/m.exec(section)?.[1] ?? "sendrecv",
        streams: [...section.matchAll(/^a=msid:(\S+)/gm)].map(([, id]) => id).filter((id) => id !== "-"),
      };
    });
  }

  function write(connection, sections, setup) {
    return ["v=0", `o=- ${connection.number} ${++connection.version} IN IP4 127.0.0.1`, "s=-", "t=0 0",
      ...sections.flatMap(({ kind, mid, direction, streams, isRejected }) => [
        `m=${kind} ${isRejected ? 0 : 9} ${kind === "application" ? "UDP/DTLS/SCTP webrtc-datachannel" : "UDP/TLS/RTP/SAVPF 96"}`,
        `a=mid:${mid}`, `a=ice-ufrag:u${connection.number}`, "a=ice-pwd:password", `a=setup:${setup}`,
        ...(kind === "application" ? [] : [`a=${direction}`]),
        ...(sends(direction) ? (streams.length ? streams : ["-"]).map((id) => `a=msid:${id} track`) : []),
      ]), ""].join("\r\n");
  }

  function offer(connection) {
    const known = connection.sections.map(({ kind, mid }) => {
      const transceiver = connection.transceivers.find((candidate) => candidate.mid === mid);
      return transceiver && !transceiver.isStopping
        ? { kind, mid, direction: transceiver.direction, streams: transceiver.streams }
        : { kind, mid, direction: "inactive", streams: [], isRejected: kind !== "application" };
    });
    let last = known.length;
    for (const transceiver of connection.transceivers) {
      if (transceiver.mid !== null || transceiver.isStopping) continue;
      transceiver.wantedMid = `${last++}`;
      const { kind, direction, streams } = transceiver;
      known.push({ kind, mid: transceiver.wantedMid, direction, streams });
    }
    if (connection.channels > 0 && !known.some(({ kind }) => kind === "application")) {
      known.push({ kind: "application", mid: `${last++}`, streams: [] });
    }
    return write(connection, known, "actpass");
  }

  function answer(connection) {
    const sections = parse(connection.descriptions.pendingRemote.sdp).map((theirs) => {
      if (theirs.kind === "application") return { ...theirs, streams: [] };
      const transceiver = connection.transceivers.find((candidate) => candidate.mid === theirs.mid);
      const offered = reverse(theirs.direction);
      if (!transceiver || transceiver.isStopping || theirs.isRejected) return { ...theirs, direction: "inactive", isRejected: true };
      const { direction, streams } = transceiver;
      return {
        ...theirs, streams, direction: join(sends(direction) && sends(offered), receives(direction) && receives(offered)),
      };
    });
    return write(connection, sections, "active");
  }

  function settle(connection, type, sections, isRemote) {
    connection.sections = sections.map(({ kind, mid }) => ({ kind, mid }));
    for (const transceiver of connection.transceivers) {
      const section = sections.find(({ mid }) => mid === transceiver.mid);
      if (!section) continue;
      const direction = isRemote ? reverse(section.direction) : section.direction;
      if (isRemote) {
        transceiver.remoteIsSending = receives(direction) && !section.isRejected;
        transceiver.remoteStreams = transceiver.remoteIsSending ? section.streams : [];
      }
      if (type === "answer") transceiver.currentDirection = direction;
      if (type === "answer" && section.isRejected) Object.assign(transceiver, { isStopped: true, mid: null });
    }
  }

  function set(connection, isRemote, { type, sdp }) {
    const { descriptions } = connection;
    const [pending, current] = isRemote ? ["pendingRemote", "currentRemote"] : ["pendingLocal", "currentLocal"];
    if (type === "rollback") {
      descriptions.pendingLocal = descriptions.pendingRemote = null;
      connection.signalingState = "stable";
      const stable = connection.stable ?? [];
      connection.transceivers = connection.transceivers.filter((transceiver) => {
        const before = stable.find(({ number }) => number === transceiver.number);
        Object.assign(transceiver, { mid: null, remoteIsSending: false, remoteStreams: [] }, before);
        return before || transceiver.number % 2 === 1 || transceiver.isAddedByTrack;
      });
      return snapshot(connection);
    }
    const sections = parse(sdp);
    if (connection.signalingState === "stable") {
      connection.stable = connection.transceivers.map(({ number, mid, remoteIsSending, remoteStreams }) =>
        ({ number, mid, remoteIsSending, remoteStreams }));
    }
    for (const [index, section] of sections.entries()) {
      if (section.kind === "application" || section.isRejected) continue;
      const { transceivers } = connection;
      if (transceivers.some(({ mid }) => mid === section.mid)) continue;
      const free = isRemote
        ? transceivers.find(({ mid, kind, isStopping, isAddedByTrack }) =>
            mid === null && kind === section.kind && !isStopping && isAddedByTrack && sends(reverse(section.direction)) !== undefined)
        : transceivers.find(({ wantedMid, mid }) => mid === null && wantedMid === section.mid);
      if (free) free.mid = section.mid;
      else if (isRemote) {
        transceivers.push({
          number: even(), kind: section.kind, mid: section.mid, direction: "recvonly", streams: [], currentDirection: null,
          receivingTrack: { track: even(), trackId: `remote-${connection.number}-${index}` },
        });
      }
    }
    settle(connection, type, sections, isRemote);
    if (type === "offer") {
      descriptions[pending] = { type, sdp };
      connection.signalingState = isRemote ? "have-remote-offer" : "have-local-offer";
    } else if (type === "pranswer") {
      descriptions[pending] = { type, sdp };
      connection.signalingState = isRemote ? "have-remote-pranswer" : "have-local-pranswer";
    } else {
      descriptions[current] = { type, sdp };
      const [otherPending, otherCurrent] = isRemote ? ["pendingLocal", "currentLocal"] : ["pendingRemote", "currentRemote"];
      descriptions[otherCurrent] = descriptions[otherPending];
      descriptions.pendingLocal = descriptions.pendingRemote = null;
      connection.signalingState = "stable";
    }
    const result = snapshot(connection);
    if (connection.signalingState === "stable") {
      task(() => connect(connection));
      connection.transceivers = connection.transceivers.filter(({ isStopped }) => !isStopped);
    }
    return result;
  }

  /// What follows from an answer: once, the transports connect.
  function connect(connection) {
    if (connection.isConnected) return;
    connection.isConnected = true;
    const at = (port) => `candidate:1 1 udp 2113937151 127.0.0.1 ${port} typ host`;
    const fields = { connection: connection.number };
    tell({ type: "connection.iceconnectionstate", ...fields, state: "connected" });
    tell({
      type: "connection.dtlsstate", ...fields, state: "connected", remoteCertificates: ["AQID"],
      selectedPair: { local: at(1), remote: at(2) },
    });
    tell({ type: "connection.connectionstate", ...fields, state: "connected" });
    tell({ type: "connection.sctpstate", ...fields, state: "connected", maxMessageSize: 262144, maxChannels: 1024 });
  }

  function snapshot({ signalingState, descriptions, transceivers, sections }) {
    return {
      signalingState, ...descriptions, canTrickleIceCandidates: true, channels: [],
      transceivers: transceivers.map((transceiver) => ({
        transceiver: transceiver.number, kind: transceiver.kind, mid: transceiver.mid, direction: transceiver.direction,
        currentDirection: transceiver.currentDirection, isStopped: !!transceiver.isStopped,
        receivingTrack: transceiver.receivingTrack, remoteStreams: transceiver.remoteStreams ?? [],
        remoteIsSending: !!transceiver.remoteIsSending, senderHasTransport: transceiver.mid !== null,
        codecs: [{ payloadType: 96, mimeType: transceiver.kind === "audio" ? "audio/opus" : "video/VP8", clockRate: 48000 }],
        headerExtensions: [],
      })),
      sctp: sections.some(({ kind }) => kind === "application")
        ? { maxMessageSize: 262144, maxChannels: 65535, state: "connecting" } : null,
    };
  }

  const of = ({ connection }) => connections.get(connection);
  const transceiverOf = (message) => of(message).transceivers.find(({ number }) => number === message.transceiver);

  Object.assign(handlers, {
    "connection.create": ({ connection }) => {
      connections.set(connection, {
        number: connection, version: 0, signalingState: "stable", transceivers: [], channels: 0, sections: [],
        descriptions: { pendingLocal: null, currentLocal: null, pendingRemote: null, currentRemote: null },
      });
    },
    "connection.close": ({ connection }) => void connections.delete(connection),
    "connection.configure": () => ({}),
    "connection.createOffer": (message) => ({ type: "offer", sdp: offer(of(message)) }),
    "connection.createAnswer": (message) => ({ type: "answer", sdp: answer(of(message)) }),
    "connection.setLocalDescription": (message) => set(of(message), false, message.description),
    "connection.setRemoteDescription": (message) => set(of(message), true, message.description),
    "connection.addIceCandidate": (message) => snapshot(of(message)),
    "connection.getStats": () => ({ report: [{ id: "P", type: "peer-connection", timestamp: 1 }] }),
    "transceiver.add": (message) => {
      const { transceiver: number, kind, direction, streams, isAddedByTrack, receivingTrack } = message;
      of(message).transceivers.push({
        number, kind, direction, streams, isAddedByTrack, receivingTrack, mid: null, currentDirection: null,
      });
    },
    "transceiver.set": (message) => {
      for (const key of ["direction", "streams", "isAddedByTrack"]) {
        if (key in message) transceiverOf(message)[key] = message[key];
      }
    },
    "transceiver.stop": (message) => void Object.assign(transceiverOf(message), { isStopping: true, direction: "inactive" }),
    "sender.setTrack": () => ({}),
    "sender.setParameters": () => ({}),
    "channel.create": (message) => void (of(message).channels += 1),
    "certificate.generate": ({ expires }) => ({ expires, fingerprints: [{ algorithm: "sha-256", value: "00:01" }] }),
    "devices.list": () => ({
      devices: ["audiooutput", "videoinput", "audioinput"].map((kind) => {
        return { deviceId: kind, groupId: "box", kind, label: kind, capabilities: deviceCapabilities[kind], ...(absent.has(kind) && { isAbsent: true }) };
      }),
      grants,
    }),
    "track.open": ({ track, kind, settings }) => {
      sizes.set(track, settings);
      return { settings, label: kind, ...(absent.has(`${kind}input`) && { isMuted: true }) };
    },
    "track.clone": ({ track, from }) => void sizes.set(track, sizes.get(from)),
    // The first picture comes at once.
    "video.play": ({ video, track }) => {
      const { width = 640, height = 480 } = sizes.get(track) ?? {};
      if (track !== null) tell({ type: "video.size", video, width, height });
    },
    "track.apply": ({ settings }) => ({ settings }),
  });

  /// Track → its settings.
  const sizes = new Map();
  const grants = { camera: true, microphone: true };
  /// Kinds of devices that are away.
  const absent = new Set();
  const deviceCapabilities = {
    videoinput: {
      width: { min: 1, max: 1280 }, height: { min: 1, max: 720 }, aspectRatio: { min: 1 / 720, max: 1280 }, frameRate: { min: 1, max: 30 },
      facingMode: ["user"], resizeMode: ["none", "crop-and-scale"],
    },
    audioinput: { sampleRate: { min: 48000, max: 48000 }, echoCancellation: [true, false], noiseSuppression: [false, true], channelCount: { min: 1, max: 1 } },
    audiooutput: {},
  };
  /// What `native.place` was given, and `native.painted`.
  const places = [];
  const painted = [];
  /// A picture of 4×2 pixels, all of one colour.
  function picture() {
    const bytes = new Uint8Array(8 + 4 * 2 * 4);
    bytes.set([0, 0, 0, 4, 0, 0, 0, 2]);
    for (let index = 8; index < bytes.length; index += 4) bytes.set([200, 20, 40, 255], index);
    return bytes.buffer;
  }

  const codec = (mimeType, clockRate, channels) => ({ mimeType, clockRate, ...(channels ? { channels } : {}) });
  const capabilities = {
    audio: { codecs: [codec("audio/opus", 48000, 2), codec("audio/PCMU", 8000, 1)], headerExtensions: [] },
    video: { codecs: [codec("video/VP8", 90000), codec("video/rtx", 90000)], headerExtensions: [] },
  };

  return {
    messages, connections, handlers, tell, grants, absent, places, painted,
    /// What arrived, by type.
    received: (type) => messages.filter((message) => message.type === type),
    binary: (kind, target, payload) => task(() => receive(kind, target, payload)),
    native: {
      document: 1, isMainFrame: true,
      policy: { camera: true, microphone: true, displayCapture: false, fullscreen: true },
      receive: (handler) => { receive = handler; },
      place: (text) => void places.push(JSON.parse(text)), painted: (serial) => void painted.push(serial), childDocument: () => 0,
      call: (text) => {
        const { type } = JSON.parse(text);
        if (type === "frame.grab") return picture();
        return type === "capabilities" ? new TextEncoder().encode(JSON.stringify(capabilities)).buffer : null;
      },
      send: (kind, target, payload) => {
        if (kind !== 0) {
          messages.push({ type: "binary", kind, target, payload });
          return;
        }
        const message = JSON.parse(payload);
        messages.push(message);
        const result = handlers[message.type]?.(message);
        if (message.id !== undefined) tell({ type: "reply", id: message.id, ...(result?.error ? result : { value: result }) });
      },
    },
  };
})();
