// Promises of ours in a page that may have replaced `Promise.prototype.then`.

/// Calls back when a promise settles.
const react = (() => {
  const { then } = Promise.prototype;
  const { apply } = Reflect;
  return (promise, fulfilled, rejected) => apply(then, promise, [fulfilled, rejected]);
})();
