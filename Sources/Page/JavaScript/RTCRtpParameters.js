// https://w3c.github.io/webrtc-pc/#rtcrtpparameters and the dictionaries around it: conversion, checks, copies.

const convertPriority = webidl.convert.enumeration("RTCPriorityType", ["very-low", "low", "medium", "high"]);

const rtpCodecMembers = {
  channels: webidl.convert.unsignedShort,
  clockRate: { type: webidl.convert.unsignedLong, required: true },
  mimeType: { type: webidl.convert.DOMString, required: true },
  sdpFmtpLine: webidl.convert.DOMString,
};

const convertRtpCodec = webidl.convert.dictionary("RTCRtpCodec", rtpCodecMembers);

const convertRtpCodecParameters = webidl.convert.dictionary("RTCRtpCodecParameters", {
  payloadType: { type: webidl.convert.octet, required: true },
}, convertRtpCodec);

const convertEncodingParameters = webidl.convert.dictionary("RTCRtpEncodingParameters", {
  active: { type: webidl.convert.boolean, default: true },
  codec: convertRtpCodec,
  maxBitrate: webidl.convert.unsignedLong,
  maxFramerate: webidl.convert.double,
  networkPriority: convertPriority,
  priority: { type: convertPriority, default: "low" },
  scalabilityMode: webidl.convert.DOMString,
  scaleResolutionDownBy: webidl.convert.double,
}, webidl.convert.dictionary("RTCRtpCodingParameters", { rid: webidl.convert.DOMString }));

const convertRtpParameters = webidl.convert.dictionary("RTCRtpParameters", {
  codecs: { type: webidl.convert.sequence(convertRtpCodecParameters), required: true },
  headerExtensions: {
    required: true,
    type: webidl.convert.sequence(webidl.convert.dictionary("RTCRtpHeaderExtensionParameters", {
      encrypted: { type: webidl.convert.boolean, default: false },
      id: { type: webidl.convert.unsignedShort, required: true },
      uri: { type: webidl.convert.DOMString, required: true },
    })),
  },
  rtcp: {
    required: true,
    type: webidl.convert.dictionary("RTCRtcpParameters", {
      cname: webidl.convert.DOMString,
      reducedSize: webidl.convert.boolean,
    }),
  },
});

const convertSendParameters = webidl.convert.dictionary("RTCRtpSendParameters", {
  degradationPreference: webidl.convert.enumeration("RTCDegradationPreference", [
    "maintain-framerate", "maintain-resolution", "balanced", "maintain-framerate-and-resolution",
  ]),
  encodings: { type: webidl.convert.sequence(convertEncodingParameters), required: true },
  transactionId: { type: webidl.convert.DOMString, required: true },
}, convertRtpParameters);

/// https://w3c.github.io/webrtc-extensions/#rtcsetparameteroptions
const convertSetParameterOptions = webidl.convert.dictionary("RTCSetParameterOptions", {
  encodingOptions: {
    type: webidl.convert.sequence(webidl.convert.dictionary("RTCEncodingOptions", {
      keyFrame: { type: webidl.convert.boolean, default: false },
    })),
    default: () => [],
  },
});

const rtpCapabilities = (() => {
  let known = null;
  /// W3C `getCapabilities`: what the box can send and receive, or null for an unknown kind.
  return (kind) => {
    if (kind !== "audio" && kind !== "video") return null;
    if (!known) {
      const answer = bridge.call("capabilities", {});
      if (!answer) return null;
      known = JSON.parse(new TextDecoder().decode(answer));
    }
    return structuredClone(known[kind]);
  };
})();

/// W3C "codec dictionary match".
function isSameCodec(left, right) {
  return left.mimeType.toLowerCase() === right.mimeType.toLowerCase() && left.clockRate === right.clockRate
    && (left.channels ?? 1) === (right.channels ?? 1) && (left.sdpFmtpLine ?? "") === (right.sdpFmtpLine ?? "");
}

/// Like `isSameCodec`, but a codec without format parameters matches any (as negotiated ones may add some).
function isCodecCompatible(wanted, offered) {
  return isSameCodec(wanted, wanted.sdpFmtpLine === undefined ? { ...offered, sdpFmtpLine: undefined } : offered);
}

/// The checks of values that `addTransceiver` and `setParameters` share: audio loses what only video has.
function checkEncodings(kind, encodings) {
  if (kind === "audio") {
    for (const encoding of encodings) {
      delete encoding.scaleResolutionDownBy;
      delete encoding.maxFramerate;
      delete encoding.scalabilityMode;
    }
    return;
  }
  for (const { scaleResolutionDownBy, maxFramerate } of encodings) {
    if (scaleResolutionDownBy < 1) throw new RangeError("scaleResolutionDownBy is less than 1.");
    if (maxFramerate < 0) throw new RangeError("maxFramerate is less than 0.");
  }
}

/// W3C section 5.1, addTransceiver: "addTransceiver sendEncodings validation steps".
function makeSendEncodings(kind, given) {
  const most = kind === "audio" ? 1 : 3;
  let encodings = given;
  const identifiers = new Set();
  for (const { rid, codec } of encodings) {
    if (rid === undefined) {
      if (encodings.length > 1) throw new TypeError("With several encodings, each needs a rid.");
    } else {
      if (!/^[A-Za-z0-9]{1,16}$/.test(rid)) throw new TypeError(`"${rid}" is not a valid rid.`);
      if (identifiers.has(rid)) throw new TypeError(`The rid "${rid}" occurs twice.`);
      identifiers.add(rid);
    }
    if (codec && !rtpCapabilities(kind)?.codecs.some((known) => isCodecCompatible(codec, known))) {
      throw new DOMException(`The codec ${codec.mimeType} is not supported.`, "OperationError");
    }
  }
  checkEncodings(kind, encodings);
  encodings = encodings.slice(0, most);
  if (encodings.length === 0) encodings = [{ active: true, priority: "low" }];
  if (encodings.length === 1) delete encodings[0].rid;
  if (kind === "video") {
    const count = encodings.length;
    const isGiven = encodings.some((encoding) => encoding.scaleResolutionDownBy !== undefined);
    encodings.forEach((encoding, index) => {
      encoding.scaleResolutionDownBy ??= isGiven ? 1 : 2 ** (count - index - 1);
    });
  }
  return encodings;
}

/// Why parameters are not what `getParameters` returned, apart from what a page may change; or null.
/// Encodings without the identifiers that several of them need are a TypeError.
function findModification(given, last) {
  const isEqual = (left, right) => JSON.stringify(left) === JSON.stringify(right);
  const extensions = (list) => list.map(({ uri, id, encrypted }) => [uri, id, !!encrypted]);
  const codecs = (list) => list.map((codec) => [
    codec.payloadType, codec.mimeType, codec.clockRate, codec.channels, codec.sdpFmtpLine,
  ]);
  if (given.transactionId !== last.transactionId) return "transactionId";
  if (given.encodings.length !== last.encodings.length) return "encodings";
  if (given.encodings.length > 1 && given.encodings.some(({ rid }) => rid === undefined)) {
    throw new TypeError("With several encodings, each needs a rid.");
  }
  if (given.encodings.some((encoding, index) => encoding.rid !== last.encodings[index].rid)) return "rid";
  if (!isEqual(extensions(given.headerExtensions), extensions(last.headerExtensions))) return "headerExtensions";
  if (given.rtcp.cname !== last.rtcp.cname || given.rtcp.reducedSize !== last.rtcp.reducedSize) return "rtcp";
  if (!isEqual(codecs(given.codecs), codecs(last.codecs))) return "codecs";
  return null;
}
