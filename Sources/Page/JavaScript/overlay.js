// Overlays on the engine's own interfaces (HTMLMediaElement, AudioContext, …): for objects that have a state of ours a member behaves
// as we say, for all others as the engine does.

const overlay = (() => {
  const { apply, defineProperty, getOwnPropertyDescriptor } = Reflect;

  /// Replaces or adds accessors. `members` is an object literal whose accessors get the state from `stateOf(this)`
  /// as the first argument of plain functions: `{ paused: { get: (state, element) => …, set: (state, value, element) => … } }`.
  /// Without a `set` a native setter stays as it is.
  function attributes(prototype, stateOf, members) {
    for (const name of Object.keys(members)) {
      const native = getOwnPropertyDescriptor(prototype, name);
      const { get, set } = members[name];
      const own = getOwnPropertyDescriptor({
        get [name]() {
          const state = stateOf(this);
          return state ? get(state, this) : apply(native.get, this, []);
        },
        set [name](value) {
          const state = stateOf(this);
          if (state && set) set(state, value, this);
          else if (native.set) apply(native.set, this, [value]);
        },
      }, name);
      defineProperty(prototype, name, {
        get: get ? own.get : native.get,
        set: set || native?.set ? own.set : undefined,
        enumerable: true, configurable: true,
      });
    }
  }

  /// Replaces operations: `{ play: (state, given, element) => … }`, `given` being the arguments.
  function operations(prototype, stateOf, members) {
    for (const name of Object.keys(members)) {
      const native = prototype[name];
      const replace = members[name];
      const own = {
        [name](...given) {
          const state = stateOf(this);
          return state ? replace(state, given, this) : apply(native, this, given);
        },
      }[name];
      defineProperty(own, "length", { value: native?.length ?? 0, configurable: true });
      defineProperty(prototype, name, { value: own, writable: true, enumerable: true, configurable: true });
    }
  }

  /// Adds the members of an object literal to an interface of the engine, or puts them in place of its own.
  function add(prototype, members) {
    for (const name of Object.keys(members)) {
      defineProperty(prototype, name, { ...getOwnPropertyDescriptor(members, name), enumerable: true, configurable: true });
    }
  }

  /// The native accessor pair of a property, as functions that take the object first.
  function natives(prototype, name) {
    const { get, set } = getOwnPropertyDescriptor(prototype, name) ?? {};
    return {
      get: get ? (object) => apply(get, object, []) : undefined,
      set: set ? (object, value) => apply(set, object, [value]) : undefined,
    };
  }

  return Object.freeze({ attributes, operations, add, natives });
})();
