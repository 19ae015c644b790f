import { answerCalls } from '../../processes/process-call.ts';

/** Halves the CPU time of the process of the given pid by SIGSTOP and SIGCONT, for 10 ms each, and lets it run again at its own end. */
const HALF_CYCLE_MS = 10;
let pid = 0;
let timer: NodeJS.Timeout | undefined;

function signal(name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    clearInterval(timer);
  }
}

const methods = {
  start: (of: number) => {
    pid = of;
    let isStopped = false;
    timer = setInterval(() => signal((isStopped = !isStopped) ? 'SIGSTOP' : 'SIGCONT'), HALF_CYCLE_MS);
  },
  /** Resolves when the process runs without interruption again. Idempotent. */
  end: () => {
    clearInterval(timer);
    if (pid > 0) signal('SIGCONT');
  },
};
export type DutyCycle = typeof methods;
answerCalls(methods);
process.on('exit', methods.end);
// Ctrl-C reaches the whole process group; the parent ends the cycle before it stops the pod.
process.on('SIGINT', () => undefined);
