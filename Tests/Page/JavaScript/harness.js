// A few lines of test harness for pages: `check(name, async () => …)`, each in the order given, then `finish()`.

const checks = [];
const check = (name, steps) => checks.push([name, steps]);

function equal(actual, expected, what = "") {
  const [left, right] = [actual, expected].map((value) => (typeof value === "object" ? JSON.stringify(value) : value));
  if (!Object.is(left, right)) throw new Error(`${what} expected ${String(right)}, got ${String(left)}`);
}

async function throws(name, steps) {
  try {
    await steps();
  } catch (error) {
    if (error.name !== name) throw new Error(`expected ${name}, got ${error.name}: ${error.message}`);
    return error;
  }
  throw new Error(`expected ${name}, got nothing`);
}

const later = (milliseconds = 0) => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function finish() {
  const results = [];
  for (const [name, steps] of checks) {
    try {
      await steps();
      results.push({ name, error: null });
    } catch (error) {
      results.push({ name, error: `${error}\n${error.stack ?? ""}` });
    }
  }
  window.webkit.messageHandlers.results.postMessage(JSON.stringify(results));
}
