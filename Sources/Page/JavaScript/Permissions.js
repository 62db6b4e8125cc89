// The part of https://w3c.github.io/permissions/ that concerns camera and microphone: the grants of the box answer, never a prompt.

{
  const names = new Set(["camera", "microphone"]);
  /// PermissionStatus of ours → {name, state, onchange}.
  const states = new WeakMap();
  const nativeQuery = Permissions.prototype.query;
  /// Statuses that were handed out, to be told of changes.
  const handedOut = new Set();

  const read = (grants, name) => (native.policy[name] && grants[name] ? "granted" : "denied");

  /// A real event target that counts as a PermissionStatus: the engine makes none for these names.
  function makeStatus(name, state) {
    const status = Object.setPrototypeOf(new EventTarget(), PermissionStatus.prototype);
    states.set(status, { name, state, handler: null, listener: null });
    handedOut.add(new WeakRef(status));
    return status;
  }

  async function query(name) {
    const { grants } = await listDevices();
    return makeStatus(name, read(grants, name));
  }

  overlay.add(Permissions.prototype, {
    query(permissionDesc) {
      const name = permissionDesc?.name;
      if (names.has(name)) return query(name);
      return Reflect.apply(nativeQuery, this, arguments);
    },
  });

  overlay.attributes(PermissionStatus.prototype, (status) => states.get(status), {
    name: { get: ({ name }) => name },
    state: { get: ({ state }) => state },
    onchange: {
      get: ({ handler }) => handler,
      set: (state, value, status) => {
        state.handler = webidl.isObject(value) ? value : null;
        if (state.listener) return;
        state.listener = (event) => {
          if (typeof state.handler === "function") Reflect.apply(state.handler, status, [event]);
        };
        status.addEventListener("change", state.listener);
      },
    },
  });

  // Grants change when the box is configured anew: `devices.changed` tells of that too.
  navigator.mediaDevices.addEventListener("devicechange", async () => {
    if (handedOut.size === 0) return;
    const { grants } = await listDevices();
    for (const reference of handedOut) {
      const status = reference.deref();
      if (!status) {
        handedOut.delete(reference);
        continue;
      }
      const state = states.get(status);
      const now = read(grants, state.name);
      if (now === state.state) continue;
      state.state = now;
      webidl.fire(status, "change");
    }
  });
}
