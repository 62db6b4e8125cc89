// Web IDL: what turns a JavaScript class into a platform interface, and JavaScript values into IDL values.
// An interface is an ordinary class with #private state that calls `webidl.define(this, { … })` in a static block.
// https://webidl.spec.whatwg.org/, sections 3.2 (conversions), 3.6 (interfaces), 3.7 (operations and attributes).

const webidl = (() => {
  // Taken before any page script runs, since pages replace these.
  const { addEventListener, removeEventListener, dispatchEvent } = EventTarget.prototype;
  const { apply, ownKeys, defineProperty, getOwnPropertyDescriptor } = Reflect;
  const { freeze } = Object;
  const { trunc, floor, abs, fround, pow } = Math;
  const PlainPromise = Promise;

  /// Guards the constructors of interfaces that a page cannot construct: only our own code knows it.
  const internal = Symbol();

  // ---- Conversions. A converter is `(value, what) => converted`; `what` names the place in error messages. ----

  function failure(what, problem) {
    return new TypeError(`${what ?? "The value"} ${problem}`);
  }

  /// Section 3.2.4.9, ConvertToInt.
  function integer(bits, isSigned, mode) {
    const upper = bits === 64 ? pow(2, 53) - 1 : pow(2, isSigned ? bits - 1 : bits) - 1;
    const lower = isSigned ? (bits === 64 ? -upper : -pow(2, bits - 1)) : 0;
    return (value, what) => {
      let number = +value;
      if (mode === "enforceRange") {
        if (number !== number || abs(number) === Infinity) throw failure(what, "is not a finite number.");
        number = trunc(number) + 0;
        if (number < lower || number > upper) throw failure(what, `is outside the range ${lower} to ${upper}.`);
        return number;
      }
      if (mode === "clamp") {
        if (number !== number) return 0;
        number = number < lower ? lower : number > upper ? upper : number;
        const down = floor(number);
        const rest = number - down;
        return (rest < 0.5 || (rest === 0.5 && down % 2 === 0) ? down : down + 1) + 0;
      }
      if (number !== number || abs(number) === Infinity) return 0;
      const modulus = pow(2, bits);
      number = trunc(number) % modulus;
      if (number < 0) number += modulus;
      return (isSigned && number >= pow(2, bits - 1) ? number - modulus : number) + 0;
    };
  }

  function integers(mode) {
    return {
      byte: integer(8, true, mode),
      octet: integer(8, false, mode),
      short: integer(16, true, mode),
      unsignedShort: integer(16, false, mode),
      long: integer(32, true, mode),
      unsignedLong: integer(32, false, mode),
      longLong: integer(64, true, mode),
      unsignedLongLong: integer(64, false, mode),
    };
  }

  function finite(value, what) {
    const number = +value;
    if (number !== number || abs(number) === Infinity) throw failure(what, "is not a finite number.");
    return number;
  }

  function isObject(value) {
    return (typeof value === "object" && value !== null) || typeof value === "function";
  }

  /// Section 3.2.21. Reads the value with its own iterator, as the specification asks.
  function sequence(of) {
    return (value, what) => {
      if (!isObject(value)) throw failure(what, "is not a sequence.");
      const method = value[Symbol.iterator];
      if (method === undefined || method === null) throw failure(what, "is not a sequence.");
      if (typeof method !== "function") throw failure(what, "is not iterable.");
      const iterator = apply(method, value, []);
      if (!isObject(iterator)) throw failure(what, "has an iterator that is no object.");
      const next = iterator.next;
      const result = [];
      for (;;) {
        const step = apply(next, iterator, []);
        if (!isObject(step)) throw failure(what, "has an iterator whose result is no object.");
        if (step.done) return result;
        defineProperty(result, result.length, {
          value: of(step.value, what === undefined ? undefined : `An element of ${what}`),
          writable: true, enumerable: true, configurable: true,
        });
      }
    };
  }

  /// Section 3.2.17. `members` maps a name to a converter, or to `{type, required, default}`; a default that is a
  /// function is called. `parent` is the inherited dictionary's converter. Absent members do not exist in the result.
  function dictionary(name, members, parent) {
    const names = ownKeys(members).sort();
    const convert = (value, what) => {
      if (value !== undefined && value !== null && !isObject(value)) {
        throw failure(what ?? name, "is not an object.");
      }
      const result = parent ? parent(value, what) : {};
      for (const key of names) {
        const member = members[key];
        const type = typeof member === "function" ? member : member.type;
        const given = value === undefined || value === null ? undefined : value[key];
        if (given !== undefined) {
          result[key] = type(given, `${name}.${key}`);
        } else if (member.required) {
          throw new TypeError(`${name}.${key} is required.`);
        } else if ("default" in member) {
          result[key] = typeof member.default === "function" ? member.default() : member.default;
        }
      }
      return result;
    };
    return convert;
  }

  const convert = {
    ...integers("modulo"),
    enforceRange: integers("enforceRange"),
    clamp: integers("clamp"),
    any: (value) => value,
    boolean: (value) => !!value,
    double: finite,
    unrestrictedDouble: (value) => +value,
    float: (value, what) => finite(fround(finite(value, what)), what),
    DOMString: (value) => `${value}`,
    USVString: (value) => `${value}`.toWellFormed(),
    object: (value, what) => {
      if (!isObject(value)) throw failure(what, "is not an object.");
      return value;
    },
    callback: (value, what) => {
      if (typeof value !== "function") throw failure(what, "is not a function.");
      return value;
    },
    /// `enumeration("RTCSdpType", ["offer", …])`. A setter of such an attribute ignores wrong values: see `accepts`.
    enumeration: (name, values) => {
      const converter = (value, what) => {
        const text = `${value}`;
        if (!values.includes(text)) throw failure(what, `: "${text}" is not a valid ${name}.`);
        return text;
      };
      converter.accepts = (text) => values.includes(text);
      return converter;
    },
    sequence,
    dictionary,
    nullable: (of) => (value, what) => (value === undefined || value === null ? null : of(value, what)),
    /// An object of the interface `Class`, or of one that inherits from it.
    interface: (Class) => (value, what) => {
      if (!brands.get(Class)(value)) throw failure(what, `is not of type ${Class.name}.`);
      return value;
    },
  };

  // ---- Interfaces ----

  /// Interface → function that tells whether a value is one of its objects.
  const brands = new Map();
  /// Object → (event type → {handler, listener}).
  const handlersOf = new WeakMap();

  function requireArguments(given, needed, what) {
    if (given.length < needed) {
      throw new TypeError(`${what}: ${needed} argument${needed > 1 ? "s" : ""} required, but only ${given.length} present.`);
    }
  }

  /// Section 3.7.7. `method.length` says how many arguments are required: optional parameters have a default.
  function operation(Class, name, method, { is, isPromise }) {
    const what = `${Class.name}.${name}`;
    const required = method.length;
    const check = (object, given) => {
      if (is && !is(object)) throw new TypeError(`${what}: called on an object that is no ${Class.name}.`);
      requireArguments(given, required, what);
    };
    const wrapped = isPromise
      ? {
          [name](...given) {
            try {
              check(this, given);
              const result = apply(method, this, given);
              return result instanceof PlainPromise ? result : PlainPromise.resolve(result);
            } catch (error) {
              return PlainPromise.reject(error);
            }
          },
        }[name]
      : {
          [name](...given) {
            check(this, given);
            return apply(method, this, given);
          },
        }[name];
    defineProperty(wrapped, "length", { value: required, configurable: true });
    return wrapped;
  }

  /// HTML section 8.1.8.1, event handlers: the listener takes its place in the order when a handler is first set.
  function eventHandler(Class, type, is) {
    const name = `on${type}`;
    const check = (object) => {
      if (!is(object)) throw new TypeError(`${Class.name}.${name}: called on an object that is no ${Class.name}.`);
    };
    return getOwnPropertyDescriptor({
      get [name]() {
        check(this);
        return handlersOf.get(this)?.get(type)?.handler ?? null;
      },
      set [name](value) {
        check(this);
        const handler = isObject(value) ? value : null;
        let handlers = handlersOf.get(this);
        if (!handlers) handlersOf.set(this, (handlers = new Map()));
        const entry = handlers.get(type);
        if (handler === null) {
          if (!entry) return;
          apply(removeEventListener, this, [type, entry.listener]);
          handlers.delete(type);
        } else if (entry) {
          entry.handler = handler;
        } else {
          const fresh = { handler, listener: null };
          fresh.listener = (event) => {
            if (typeof fresh.handler !== "function") return;
            if (apply(fresh.handler, event.currentTarget, [event]) === false) event.preventDefault();
          };
          handlers.set(type, fresh);
          apply(addEventListener, this, [type, fresh.listener]);
        }
      },
    }, name);
  }

  /// Makes `Class` a platform interface and installs it on the global object. To be called in a static block, with
  /// - `is`: `(value) => #field in value`, the brand check (give a check that works on any value);
  /// - `length`: required arguments of the constructor (0);
  /// - `promises`: names of the operations, static ones too, that return promises: they reject instead of throwing;
  /// - `events`: event types that have an event handler attribute;
  /// - `constants`: name → number;
  /// - `aliases`: further global names.
  /// Attributes are the class's accessors (they have to touch #private state, which checks the receiver), operations
  /// its methods. Everything on the prototype is visible to pages: friends take functions made in the static block.
  function define(Class, { is, length = 0, promises = [], events = [], constants = {}, aliases = [] }) {
    const check = (value) => isObject(value) && is(value);
    brands.set(Class, check);
    for (const [holder, brand] of [[Class.prototype, check], [Class, null]]) {
      for (const key of ownKeys(holder)) {
        if (key === "constructor" || key === "prototype" || key === "length" || key === "name") continue;
        const property = getOwnPropertyDescriptor(holder, key);
        if (!property.configurable) continue;
        if (typeof property.value === "function" && typeof key === "string") {
          property.value = operation(Class, key, property.value, { is: brand, isPromise: promises.includes(key) });
        }
        property.enumerable = typeof key === "string";
        defineProperty(holder, key, property);
      }
    }
    for (const type of events) {
      defineProperty(Class.prototype, `on${type}`, { ...eventHandler(Class, type, check), enumerable: true });
    }
    for (const key of ownKeys(constants)) {
      const property = { value: constants[key], writable: false, enumerable: true, configurable: false };
      defineProperty(Class, key, property);
      defineProperty(Class.prototype, key, property);
    }
    defineProperty(Class, "length", { value: length, writable: false, enumerable: false, configurable: true });
    defineProperty(Class.prototype, Symbol.toStringTag, {
      value: Class.name, writable: false, enumerable: false, configurable: true,
    });
    for (const name of [Class.name, ...aliases]) {
      defineProperty(globalThis, name, { value: Class, writable: true, enumerable: false, configurable: true });
    }
  }

  return freeze({
    internal,
    convert: freeze(convert),
    define,
    isObject,
    /// Throws a TypeError when a constructor got too few arguments.
    requireArguments,
    /// For constructors of interfaces that pages cannot construct: `webidl.requireInternal(token)`.
    requireInternal(token) {
      if (token !== internal) throw new TypeError("Illegal constructor");
    },
    /// Whether `value` is an object of the interface `Class`.
    is: (Class, value) => brands.get(Class)(value),
    /// Fires an event (or a plain one of that type) at a target; what listeners throw is reported, not thrown.
    fire(target, event) {
      return apply(dispatchEvent, target, [typeof event === "string" ? new Event(event) : event]);
    },
    /// Calls a callback function and reports what it throws.
    invoke(callback, ...given) {
      try {
        return apply(callback, undefined, given);
      } catch (error) {
        reportError(error);
      }
    },
  });
})();
