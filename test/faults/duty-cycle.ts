import type { PodProcess } from '../end-to-end/pod-process.ts';
import type { Scope } from '../support/socket.ts';

const HALF_MS = 50;

/** Limits a pod to half of a core until the test ends: it is frozen for 50 of every 100 ms. */
export function halve(scope: Scope, pod: PodProcess): void {
  let isFrozen = false;
  const timer = setInterval(() => {
    isFrozen = !isFrozen;
    pod.process.kill(isFrozen ? 'SIGSTOP' : 'SIGCONT');
  }, HALF_MS);
  scope.after(() => clearInterval(timer));
}
