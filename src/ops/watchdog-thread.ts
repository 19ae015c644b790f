import { write } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { textLine } from '../base/log-text.ts';
import { escapeHidden } from '../base/visible.ts';
import { LINE_MS, PAUSED, TICK_MS } from './watchdog.ts';
import type { WatchdogThreadData } from './watchdog.ts';

const { cell, limitMs, facts, format } = workerData as WatchdogThreadData;
/** One tick more than the limit has: the main thread's own deadline comes first. */
const maxTicks = Math.ceil(limitMs / TICK_MS) + 1;
let lastTurn = PAUSED;
/** Ticks since the main thread's last report. */
let ticks = 0;

const timer = setInterval(() => {
  const turn = Atomics.load(cell, 0);
  ticks = turn === lastTurn && turn !== PAUSED ? ticks + 1 : 0;
  lastTurn = turn;
  if (ticks >= maxTicks) end();
}, TICK_MS);

function end(): void {
  clearInterval(timer);
  const line = JSON.stringify({
    level: 'fatal',
    time: new Date().toISOString(),
    ...facts,
    limitMs,
    msg: 'the event loop is blocked, or the shutdown takes too long: the watchdog ends the process',
  });
  const kill = () => void process.kill(process.pid, 'SIGKILL');
  write(2, format === 'text' ? textLine(line, process.stderr) : `${escapeHidden(line)}\n`, kill);
  setTimeout(kill, LINE_MS);
}
