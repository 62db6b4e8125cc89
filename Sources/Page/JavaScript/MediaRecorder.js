// MediaRecorder: the box does not record calls. It says so the way https://w3c.github.io/mediacapture-record/ has it.

if (globalThis.MediaRecorder) {
  const Native = MediaRecorder;
  const Recorder = new Proxy(Native, {
    construct(target, given, newTarget) {
      webidl.requireArguments(given, 1, "MediaRecorder");
      webidl.convert.interface(MediaStream)(given[0], "stream");
      throw new DOMException("This box does not record.", "NotSupportedError");
    },
  });
  Object.defineProperty(globalThis, "MediaRecorder", { value: Recorder, writable: true, enumerable: false, configurable: true });
  Object.defineProperty(Native.prototype, "constructor", { value: Recorder, writable: true, enumerable: false, configurable: true });
  overlay.add(Native, {
    isTypeSupported(type) {
      webidl.requireArguments(arguments, 1, "MediaRecorder.isTypeSupported");
      return false;
    },
  });
}
