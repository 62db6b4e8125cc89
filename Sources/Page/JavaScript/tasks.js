// Tasks of the event loop: the specifications' "queue a task". In order, each with its microtasks.

/// A timer of zero runs at once and in this process; a message channel goes through the engine's network process.
const queueTask = (() => {
  const { setTimeout } = globalThis;
  const { apply } = Reflect;
  const waiting = [];

  // Whichever timer fires, the oldest task runs: a nested timer may be delayed.
  const next = () => {
    const task = waiting.shift();
    task();
  };

  return (task) => {
    waiting.push(task);
    apply(setTimeout, undefined, [next, 0]);
  };
})();
