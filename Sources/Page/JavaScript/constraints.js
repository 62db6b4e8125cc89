// Constraints and SelectSettings: https://w3c.github.io/mediacapture-main/#constrainable-interface
// Capabilities are those of one device, as `devices.list` gives them: ranges as {min, max}, lists of strings or booleans as arrays.

/// Converts a MediaTrackConstraints dictionary.
let trackConstraints;
/// Names of the constrainable properties a kind of track has.
let constrainableProperties;
/// The settings that meet the constraints best on a device with these capabilities. Throws an OverconstrainedError.
let selectSettings;
/// Section 4.3.8.1.4, fitness distance of a device, for the choice among several.
let fitnessDistance;

{
  const { convert } = webidl;
  const isAbsent = (value) => value === undefined || value === null;

  /// `(T or ConstrainT)`: an object is the dictionary, all else the bare value.
  const range = (name, number) => {
    const dictionary = convert.dictionary(name, { exact: number, ideal: number, max: number, min: number });
    return (value, what) => (webidl.isObject(value) ? dictionary(value, what) : number(value, what));
  };
  const choice = (name, of) => {
    const list = convert.sequence(of);
    const either = (value, what) => {
      return webidl.isObject(value) && !isAbsent(value[Symbol.iterator]) ? list(value, what) : of(value, what);
    };
    const dictionary = convert.dictionary(name, { exact: either, ideal: either });
    return (value, what) => {
      if (!webidl.isObject(value)) return of(value, what);
      return isAbsent(value[Symbol.iterator]) ? dictionary(value, what) : list(value, what);
    };
  };
  const flag = (() => {
    const dictionary = convert.dictionary("ConstrainBooleanParameters", { exact: convert.boolean, ideal: convert.boolean });
    return (value, what) => (webidl.isObject(value) ? dictionary(value, what) : !!value);
  })();
  const unsignedLong = range("ConstrainULongRange", convert.clamp.unsignedLong);
  const double = range("ConstrainDoubleRange", convert.double);
  const text = choice("ConstrainDOMStringParameters", convert.DOMString);

  /// Property → [converter, kinds].
  const properties = {
    aspectRatio: [double, "video"], autoGainControl: [flag, "audio"], backgroundBlur: [flag, "video"],
    channelCount: [unsignedLong, "audio"], deviceId: [text, "both"], echoCancellation: [flag, "audio"],
    facingMode: [text, "video"], frameRate: [double, "video"], groupId: [text, "both"], height: [unsignedLong, "video"],
    latency: [double, "audio"], noiseSuppression: [flag, "audio"], resizeMode: [text, "video"],
    sampleRate: [unsignedLong, "audio"], sampleSize: [unsignedLong, "audio"], voiceIsolation: [flag, "audio"], width: [unsignedLong, "video"],
  };
  const names = Object.keys(properties);
  const ofKind = (name, kind) => properties[name][1] === "both" || properties[name][1] === kind;

  const set = convert.dictionary("MediaTrackConstraintSet", Object.fromEntries(names.map((name) => [name, properties[name][0]])));
  trackConstraints = convert.dictionary("MediaTrackConstraints", { advanced: convert.sequence(set) }, set);
  constrainableProperties = names;

  /// A constraint as {exact, ideal, min, max}: a bare value is ideal, in an advanced set exact.
  function normalized(value, isAdvanced) {
    if (webidl.isObject(value) && !Array.isArray(value)) return value;
    return isAdvanced ? { exact: value } : { ideal: value };
  }

  const listed = (value) => (Array.isArray(value) ? value : [value]);
  // A device id longer than any of ours cannot name one; the specification caps strings so that pages cannot use them as storage.
  const longest = 500;

  /// What is left of a capability under a constraint's required parts: a range, a list, or null if nothing is.
  function narrowed(capability, { exact, min, max }) {
    if (Array.isArray(capability) || typeof capability === "string") {
      if (exact === undefined) return capability;
      const rest = listed(capability).filter((item) => listed(exact).includes(item));
      return rest.length > 0 ? rest : null;
    }
    const lower = Math.max(capability.min ?? -Infinity, min ?? -Infinity, exact ?? -Infinity);
    const upper = Math.min(capability.max ?? Infinity, max ?? Infinity, exact ?? Infinity);
    return lower <= upper ? { min: lower, max: upper } : null;
  }

  /// A camera's own size is the only one that needs no scaling.
  function keepNativeSize(space, capabilities) {
    for (const name of ["width", "height"]) {
      if (!space[name]) continue;
      const rest = narrowed(space[name], { exact: capabilities[name].max });
      if (rest === null) return name;
      space[name] = rest;
    }
    return null;
  }

  /// Narrows all capabilities by one constraint set; returns the name of the property that cannot be met, or null.
  function narrow(space, capabilities, constraints, kind, isAdvanced) {
    for (const name of names) {
      if (constraints[name] === undefined || !ofKind(name, kind)) continue;
      const constraint = normalized(constraints[name], isAdvanced);
      const texts = [constraint.exact, constraint.ideal].flatMap((value) => (value === undefined ? [] : listed(value)));
      if (texts.some((item) => typeof item === "string" && item.length > longest)) return name;
      const isRequired = constraint.exact !== undefined || constraint.min !== undefined || constraint.max !== undefined;
      if (!isRequired) continue;
      if (space[name] === undefined) return name;
      const rest = narrowed(space[name], constraint);
      if (rest === null) return name;
      space[name] = rest;
    }
    if (kind === "video" && Array.isArray(space.resizeMode) && !space.resizeMode.includes("crop-and-scale") && space.resizeMode !== capabilities.resizeMode) {
      const name = keepNativeSize(space, capabilities);
      if (name) return name;
    }
    return shape(space);
  }

  /// Width, height and aspect ratio hang together.
  function shape(space) {
    const { width, height, aspectRatio } = space;
    if (!width || !height || !aspectRatio) return null;
    const widest = width.max / Math.max(height.min, 1);
    const narrowest = Math.max(width.min, 1) / height.max;
    return aspectRatio.min > widest || aspectRatio.max < narrowest ? "aspectRatio" : null;
  }

  const copied = (capabilities) => ({ ...capabilities });

  function within(value, { min, max }) {
    return Math.min(Math.max(value, min ?? -Infinity), max ?? Infinity);
  }

  fitnessDistance = (constraints, capabilities, kind) => {
    let distance = 0;
    for (const name of names) {
      const { ideal } = constraints[name] === undefined ? {} : normalized(constraints[name], false);
      const capability = capabilities[name];
      if (ideal === undefined || !ofKind(name, kind)) continue;
      if (capability === undefined) distance += 1;
      else if (Array.isArray(capability) || typeof capability === "string") {
        if (!listed(capability).some((item) => listed(ideal).includes(item))) distance += 1;
      } else {
        const nearest = within(ideal, capability);
        if (nearest !== ideal) distance += Math.abs(nearest - ideal) / Math.max(Math.abs(nearest), Math.abs(ideal));
      }
    }
    return distance;
  };

  /// What is derived is even, as pictures with halved colour planes are best.
  const even = (value) => 2 * Math.round(value / 2);

  /// Picture size: what is ideal, the rest by the camera's own shape; where nothing is said the camera's own size, which the box's owner chose.
  function pictureSize(space, ideal, capabilities) {
    const ratioWanted = space.aspectRatio && ideal("aspectRatio");
    const isRatioFixed = ratioWanted !== undefined || (space.aspectRatio && capabilities.aspectRatio
      && (space.aspectRatio.min !== capabilities.aspectRatio.min || space.aspectRatio.max !== capabilities.aspectRatio.max));
    let width = ideal("width");
    let height = ideal("height");
    const isFree = width === undefined && height === undefined;
    const native = capabilities.width?.max ? capabilities.width.max / capabilities.height.max : 4 / 3;
    const ratio = isRatioFixed ? within(ratioWanted ?? native, space.aspectRatio) : native;
    if (isFree) {
      height = within(capabilities.height?.max ?? 480, space.height);
      width = within(even(height * ratio), space.width);
      height = within(even(width / ratio), space.height);
    } else if (width === undefined) {
      height = within(height, space.height);
      width = within(even(height * ratio), space.width);
    } else if (height === undefined) {
      width = within(width, space.width);
      height = within(even(width / ratio), space.height);
    }
    width = Math.round(within(width, space.width));
    height = Math.round(within(height, space.height));
    if (isRatioFixed && (width / height < space.aspectRatio.min || width / height > space.aspectRatio.max)) {
      const target = within(width / height, space.aspectRatio);
      if (width / height > target) width = Math.round(height * target);
      else height = Math.round(width / target);
    }
    return { width, height, aspectRatio: width / height };
  }

  /// Where the box has a choice of its own, that stands first among the capabilities.
  const defaults = {
    frameRate: 30, channelCount: 1, sampleRate: 48000, sampleSize: 16, latency: 0.01, voiceIsolation: false, backgroundBlur: false, resizeMode: "none",
  };

  selectSettings = (constraints, capabilities, kind) => {
    let space = copied(capabilities);
    const failed = narrow(space, capabilities, constraints, kind, false);
    if (failed) throw new OverconstrainedError(failed, `No device or setting meets the constraint ${failed}.`);
    for (const advanced of constraints.advanced ?? []) {
      const attempt = copied(space);
      if (narrow(attempt, capabilities, advanced, kind, true) !== null) continue;
      space = attempt;
    }
    const ideal = (name) => {
      const value = constraints[name];
      return value === undefined ? undefined : normalized(value, false).ideal;
    };
    const settings = {};
    for (const name of names) {
      const capability = space[name];
      if (capability === undefined || !ofKind(name, kind)) continue;
      const wish = ideal(name);
      if (typeof capability === "string") settings[name] = capability;
      else if (Array.isArray(capability)) {
        const wished = wish === undefined ? [] : listed(wish).filter((item) => capability.includes(item));
        if (wished.length > 0) settings[name] = wished[0];
        else if (capability.includes(defaults[name])) settings[name] = defaults[name];
        else if (capability.length > 0) settings[name] = capability[0];
      } else {
        settings[name] = within(wish ?? defaults[name] ?? capability.max, capability);
      }
    }
    if (kind === "video" && space.width && space.height) {
      Object.assign(settings, pictureSize(space, ideal, capabilities));
      const isNative = settings.width === capabilities.width.max && settings.height === capabilities.height.max;
      const modes = space.resizeMode ?? [];
      const isWished = listed(ideal("resizeMode")).includes(settings.resizeMode);
      if (!isWished && !isNative && modes.includes("crop-and-scale")) settings.resizeMode = "crop-and-scale";
    }
    return settings;
  };
}
