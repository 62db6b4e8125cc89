// Tasks of the event loop: the specifications' "queue a task". In order, each with its microtasks.

/// Native code calls us from outside of the engine's own bookkeeping, which therefore does not see that a task ends there.
/// After the listener of an event the engine runs the microtasks.
const runMicrotasks = (() => {
  const target = new EventTarget();
  target.addEventListener("checkpoint", () => {});
  return () => webidl.fire(target, "checkpoint");
})();

/// `queueTask(steps)`, and `runQueuedTasks()` for what comes from outside and has to wait its turn.
const { queueTask, runQueuedTasks } = (() => {
  const { setTimeout } = globalThis;
  const { apply } = Reflect;
  const waiting = [];

  // Whichever timer fires, the oldest task runs: a nested timer may be delayed.
  const next = () => waiting.shift()?.();

  return {
    // A timer of zero runs at once and in this process; a message channel goes through the engine's network process.
    queueTask(steps) {
      waiting.push(steps);
      apply(setTimeout, undefined, [next, 0]);
    },
    runQueuedTasks() {
      while (waiting.length > 0) {
        try {
          next();
        } catch (error) {
          reportError(error);
        }
        runMicrotasks();
      }
    },
  };
})();
