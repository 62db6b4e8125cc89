// Tasks of the event loop: the specifications' "queue a task". In order, without the delay that timers have.

const queueTask = (() => {
  const { port1, port2 } = new MessageChannel();
  const postMessage = port2.postMessage.bind(port2);
  let waiting = [];

  // One message for each task, so that microtasks and other tasks come in between.
  port1.onmessage = () => {
    const task = waiting.shift();
    task?.();
  };

  return (task) => {
    waiting.push(task);
    postMessage(0);
  };
})();
