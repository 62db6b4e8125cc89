// https://w3c.github.io/webrtc-pc/#rtcconfiguration-dictionary: conversion and the checks of "set a configuration".

const convertIceServer = webidl.convert.dictionary("RTCIceServer", {
  credential: webidl.convert.DOMString,
  urls: {
    required: true,
    type: (value, what) =>
      webidl.isObject(value) && value[Symbol.iterator] !== undefined && value[Symbol.iterator] !== null
        ? webidl.convert.sequence(webidl.convert.USVString)(value, what)
        : [webidl.convert.USVString(value, what)],
  },
  username: webidl.convert.DOMString,
});

const convertConfiguration = webidl.convert.dictionary("RTCConfiguration", {
  bundlePolicy: {
    type: webidl.convert.enumeration("RTCBundlePolicy", ["balanced", "max-compat", "max-bundle"]), default: "balanced",
  },
  certificates: { type: webidl.convert.sequence(webidl.convert.interface(RTCCertificate)), default: () => [] },
  iceCandidatePoolSize: { type: webidl.convert.enforceRange.octet, default: 0 },
  iceServers: { type: webidl.convert.sequence(convertIceServer), default: () => [] },
  iceTransportPolicy: {
    type: webidl.convert.enumeration("RTCIceTransportPolicy", ["relay", "all"]), default: "all",
  },
  // "negotiate" is a former value that engines still know, in order to refuse it.
  rtcpMuxPolicy: {
    type: webidl.convert.enumeration("RTCRtcpMuxPolicy", ["negotiate", "require"]), default: "require",
  },
});

/// "Validate an ICE server URL" (RFC 7064, RFC 7065): whether a user name and a credential are needed.
function validateServerURL(url) {
  const parts = /^(stuns?|turns?):(?!\/\/)(\[[0-9a-fA-F:.]+\]|[^\s:/?#@[\]]+)(?::(\d{1,5}))?(?:\?(.*))?$/i.exec(url);
  const invalid = (problem) => new DOMException(`The ICE server's URL "${url}" ${problem}.`, "SyntaxError");
  if (!parts) throw invalid("is not valid");
  const [, scheme, , port, query] = parts;
  if (port !== undefined && +port > 0xffff) throw invalid("has a port out of range");
  const isTURN = scheme.toLowerCase().startsWith("turn");
  if (query !== undefined && (!isTURN || !/^transport=(udp|tcp)$/i.test(query))) {
    throw invalid("has a query that is not supported");
  }
  return isTURN;
}

/// W3C section 4.4.1.6, "validate an iceServer".
function validateServer(server) {
  const invalid = (problem) => new DOMException(problem, "InvalidAccessError");
  if (server.urls.length === 0) throw new DOMException("An ICE server has no URL.", "SyntaxError");
  for (const url of server.urls) {
    if (!validateServerURL(url)) continue;
    if (server.username === undefined || server.credential === undefined) {
      throw invalid(`The TURN server "${url}" needs a user name and a credential.`);
    }
    if (new Blob([server.username]).size > 509) throw invalid("The user name of a TURN server is longer than 509 bytes.");
  }
}

/// Converts and checks a page's configuration; `current` is the one that it is to replace.
function makeConfiguration(value, current) {
  const configuration = convertConfiguration(value, "RTCConfiguration");
  if (current) {
    const changed = (what) => new DOMException(`The ${what} cannot be changed.`, "InvalidModificationError");
    const { certificates } = configuration;
    if (certificates.length && (certificates.length !== current.certificates.length
        || certificates.some((certificate, index) => certificate !== current.certificates[index]))) {
      throw changed("certificates");
    }
    configuration.certificates = current.certificates;
    if (configuration.bundlePolicy !== current.bundlePolicy) throw changed("bundle policy");
    if (configuration.rtcpMuxPolicy !== current.rtcpMuxPolicy) throw changed("RTCP multiplexing policy");
  } else {
    if (configuration.rtcpMuxPolicy === "negotiate") {
      throw new DOMException("RTCP is always multiplexed.", "NotSupportedError");
    }
    for (const certificate of configuration.certificates) {
      if (certificate.expires <= Date.now()) throw new DOMException("A certificate has expired.", "InvalidAccessError");
    }
  }
  configuration.iceServers.forEach(validateServer);
  return configuration;
}

/// What a page gets from `getConfiguration`: copies all through.
function copyConfiguration(configuration) {
  return {
    ...configuration,
    certificates: [...configuration.certificates],
    iceServers: configuration.iceServers.map((server) => ({ ...server, urls: [...server.urls] })),
  };
}

/// The configuration as the bridge's messages carry it.
function bridgedConfiguration({ certificates, ...rest }) {
  return certificates.length ? { ...rest, certificate: certificateNumber(certificates[0]) } : rest;
}
