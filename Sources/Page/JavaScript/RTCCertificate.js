// https://w3c.github.io/webrtc-pc/#rtccertificate-interface

/// The certificate's number on the bridge.
let certificateNumber;

/// Tells `run` of certificates that the page has lost.
const lostCertificates = new FinalizationRegistry((certificate) => {
  bridge.post("certificate.release", { certificate });
});

const convertCertificateExpiration = webidl.convert.dictionary("RTCCertificateExpiration", {
  expires: webidl.convert.enforceRange.unsignedLongLong,
});

/// W3C section 4.9.1, steps 1 to 6: which keys can be made, and until when the certificate is to last.
function normalizeCertificateAlgorithm(keygenAlgorithm) {
  const unsupported = (problem) => new DOMException(problem, "NotSupportedError");
  const given = webidl.isObject(keygenAlgorithm) ? keygenAlgorithm : { name: keygenAlgorithm };
  const { expires } = convertCertificateExpiration(webidl.isObject(keygenAlgorithm) ? keygenAlgorithm : undefined);
  if (given.name === undefined) throw new TypeError("The algorithm has no name.");
  const name = `${given.name}`.toUpperCase();
  let algorithm;
  if (name === "ECDSA") {
    if (given.namedCurve === undefined) throw new TypeError("The algorithm has no namedCurve.");
    if (`${given.namedCurve}` !== "P-256") throw unsupported("Of the elliptic curves, only P-256 is supported.");
    algorithm = "ECDSA";
  } else if (name === "RSASSA-PKCS1-V1_5") {
    for (const key of ["modulusLength", "publicExponent", "hash"]) {
      if (given[key] === undefined) throw new TypeError(`The algorithm has no ${key}.`);
    }
    const modulusLength = webidl.convert.enforceRange.unsignedLong(given.modulusLength, "modulusLength");
    if (!(given.publicExponent instanceof Uint8Array)) throw new TypeError("publicExponent is not a Uint8Array.");
    const exponent = [...given.publicExponent].join();
    const hash = `${webidl.isObject(given.hash) ? given.hash.name : given.hash}`.toUpperCase();
    if (hash !== "SHA-256") throw unsupported("Of the hash functions, only SHA-256 is supported with RSA.");
    if (exponent !== "1,0,1" || modulusLength !== 2048) {
      throw unsupported("Of the RSA keys, only those of 2048 bits with the exponent 65537 are supported.");
    }
    algorithm = "RSA";
  } else {
    throw unsupported(`The algorithm ${name} is not supported.`);
  }
  const day = 24 * 60 * 60 * 1000;
  return { algorithm, expires: Date.now() + Math.min(expires ?? 30 * day, 365 * day) };
}

class RTCCertificate {
  #number;
  #expires;
  #fingerprints;

  constructor(token, number, expires, fingerprints) {
    webidl.requireInternal(token);
    this.#number = number;
    this.#expires = expires;
    this.#fingerprints = fingerprints;
    lostCertificates.register(this, number);
  }

  get expires() { return this.#expires; }

  getFingerprints() {
    return this.#fingerprints.map(({ algorithm, value }) => ({ algorithm, value }));
  }

  static {
    certificateNumber = (certificate) => certificate.#number;
    webidl.define(this, { is: (value) => #number in value });
  }
}

/// `RTCPeerConnection.generateCertificate`.
async function generateCertificate(keygenAlgorithm) {
  const wanted = normalizeCertificateAlgorithm(keygenAlgorithm);
  const certificate = bridge.identifier();
  const answer = await bridge.request("certificate.generate", { certificate, ...wanted });
  return new RTCCertificate(webidl.internal, certificate, answer.expires ?? wanted.expires, answer.fingerprints ?? []);
}
