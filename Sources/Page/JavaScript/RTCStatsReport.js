// https://w3c.github.io/webrtc-pc/#rtcstatsreport-object: a readonly maplike (Web IDL section 3.7.11).

let requestStats;

class RTCStatsReport {
  #entries;

  constructor(token, list) {
    webidl.requireInternal(token);
    this.#entries = new Map(list.map((stats) => [stats.id, stats]));
  }

  get size() { return this.#entries.size; }

  entries() { return this.#entries.entries(); }

  forEach(callback, thisArg = undefined) {
    const entries = this.#entries;
    const call = webidl.convert.callback(callback, "callback");
    for (const [key, value] of entries) Reflect.apply(call, thisArg, [value, key, this]);
  }

  get(key) { return this.#entries.get(`${key}`); }
  has(key) { return this.#entries.has(`${key}`); }
  keys() { return this.#entries.keys(); }
  values() { return this.#entries.values(); }

  static {
    /// Asks the box for statistics: of the connection, or of one sender or receiver.
    requestStats = (connection, selection) => new Promise((resolve, reject) => {
      const request = bridge.request("connection.getStats", { connection: connection.number, ...selection });
      react(request, ({ report }) => resolve(new RTCStatsReport(webidl.internal, report)), (error) => {
        // The box forgets a connection when it is closed, but statistics may still be asked for.
        if (connection.isClosed) resolve(new RTCStatsReport(webidl.internal, []));
        else reject(error);
      });
    });
    webidl.define(this, { is: (value) => #entries in value });
    Object.defineProperty(this.prototype, Symbol.iterator, {
      value: this.prototype.entries, writable: true, enumerable: false, configurable: true,
    });
  }
}
