// What the page's side has to know of session descriptions (RFC 8866, RFC 8829); the box does the rest.

/// The media sections of a description: `{kind, mid, isRejected, direction, streams, iceParameters, lines}` each.
function parseMediaSections(description) {
  if (!description) return [];
  const [session, ...sections] = description.sdp.split(/\r?\n(?=m=)/);
  const find = (lines, name) => lines.find((line) => line.startsWith(name))?.slice(name.length);
  const sessionLines = session.split(/\r?\n/);
  return sections.map((section) => {
    const lines = section.split(/\r?\n/);
    const attribute = (name) => find(lines, name) ?? find(sessionLines, name);
    const directions = ["sendrecv", "sendonly", "recvonly", "inactive"];
    const direction = (list) => directions.find((name) => list.includes(`a=${name}`));
    const usernameFragment = attribute("a=ice-ufrag:");
    return {
      kind: lines[0].slice(2, lines[0].indexOf(" ")),
      mid: find(lines, "a=mid:") ?? null,
      isRejected: lines[0].split(" ")[1] === "0" && !lines.includes("a=bundle-only"),
      direction: direction(lines) ?? direction(sessionLines) ?? "sendrecv",
      streams: lines.filter((line) => line.startsWith("a=msid:")).map((line) => line.slice(7).split(" ")[0]),
      iceParameters: usernameFragment === undefined
        ? null : { usernameFragment, password: attribute("a=ice-pwd:") ?? "" },
      isLite: sessionLines.includes("a=ice-lite"),
      lines,
    };
  });
}

/// The layers that a media section asks to be sent (RFC 8853): the first of each list of alternatives.
function receivedLayers({ lines }) {
  const list = lines.find((line) => line.startsWith("a=simulcast:"))?.match(/recv ([^ ]+)/)?.[1];
  return list ? [...new Set(list.split(";").map((layer) => layer.split(",")[0].replace(/^~/, "")))] : [];
}

/// The ICE user name fragments in descriptions.
function usernameFragments(...descriptions) {
  return descriptions.flatMap(parseMediaSections).flatMap(({ iceParameters }) => iceParameters?.usernameFragment ?? []);
}

/// A direction seen from the other side.
function reverseDirection(direction) {
  return { sendonly: "recvonly", recvonly: "sendonly" }[direction] ?? direction;
}

function directionSends(direction) {
  return direction === "sendrecv" || direction === "sendonly";
}

function directionReceives(direction) {
  return direction === "sendrecv" || direction === "recvonly";
}

function makeDirection(sends, receives) {
  return sends ? (receives ? "sendrecv" : "sendonly") : receives ? "recvonly" : "inactive";
}

/// W3C section 4.7.3, "check if negotiation is needed", but for what only a description could tell.
function isNegotiationNeeded(connection) {
  if (connection.replacedFragments.size > 0) return true;
  const { currentLocal, currentRemote } = connection.descriptions;
  const local = parseMediaSections(currentLocal);
  const remote = parseMediaSections(currentRemote);
  if (connection.hasCreatedChannel && !local.some((section) => section.kind === "application" && !section.isRejected)) {
    return true;
  }
  for (const transceiver of connection.transceivers) {
    const { mid } = transceiver;
    const ours = mid === null ? undefined : local.find((section) => section.mid === mid);
    const theirs = mid === null ? undefined : remote.find((section) => section.mid === mid);
    if (transceiver.isStopping && !transceiver.isStopped) return true;
    if (transceiver.isStopped) {
      if (ours && !ours.isRejected && theirs && !theirs.isRejected) return true;
      continue;
    }
    if (!ours) return true;
    const { direction } = transceiver;
    if (directionSends(direction)) {
      const wanted = transceiver.sender.streamIds;
      const said = ours.streams.filter((id) => id !== "-");
      if (ours.streams.length === 0) return true;
      if (said.length !== wanted.length || wanted.some((id) => !said.includes(id))) return true;
    }
    if (currentLocal.type === "offer") {
      if (direction !== ours.direction && (!theirs || direction !== reverseDirection(theirs.direction))) return true;
    } else {
      const offered = reverseDirection(theirs?.direction ?? "inactive");
      const answer = makeDirection(
        directionSends(direction) && directionSends(offered), directionReceives(direction) && directionReceives(offered));
      if (ours.direction !== answer) return true;
    }
  }
  return false;
}
