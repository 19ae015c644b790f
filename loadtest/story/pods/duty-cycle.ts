/** Stops and continues the process of the given pid for 10 ms each, until the parent disconnects. */
const HALF_CYCLE_MS = 10;
const pid = Number(process.argv[2]);
let isStopped = false;

const timer = setInterval(() => {
  isStopped = !isStopped;
  signal(isStopped ? 'SIGSTOP' : 'SIGCONT');
}, HALF_CYCLE_MS);

process.on('disconnect', () => {
  clearInterval(timer);
  signal('SIGCONT');
});
// Ctrl-C reaches the whole process group; the parent disconnects before it stops the pod.
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => undefined);

function signal(name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    clearInterval(timer);
  }
}
