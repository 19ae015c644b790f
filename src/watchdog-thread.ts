import { write } from 'node:fs';
import { constants } from 'node:os';
import { workerData } from 'node:worker_threads';
import type { WatchdogOptions } from './watchdog.ts';

/** Time in ms that the main thread has beyond its own deadline. */
const MARGIN_MS = 1000;
/** Time in ms for the last line, which is not waited for: nobody may read the pipe. */
const LINE_MS = 100;

interface SignalHandle {
  onsignal: () => void;
  start(signal: number): number;
}

/** Node offers signals to the main thread only. The handle under `process.on('SIGTERM')` works on the loop of any thread. */
interface InternalProcess {
  binding(name: 'signal_wrap'): { readonly Signal: new () => SignalHandle };
  noDeprecation: boolean;
}

const { timeoutMs } = workerData as WatchdogOptions;
const internal = process as unknown as InternalProcess;
internal.noDeprecation = true;
const { Signal } = internal.binding('signal_wrap');
let signals = 0;

function onSignal(): void {
  signals++;
  if (signals === 1) setTimeout(end, timeoutMs + MARGIN_MS);
  if (signals === 3) setTimeout(end, MARGIN_MS);
}

function end(): void {
  write(2, 'crier: the event loop is blocked: the watchdog ends the process\n', () => undefined);
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), LINE_MS);
}

for (const number of [constants.signals.SIGTERM, constants.signals.SIGINT]) {
  const handle = new Signal();
  handle.onsignal = onSignal;
  handle.start(number);
}
