import { setTimeout as delay } from 'node:timers/promises';
import type { Remote } from '../../processes/process-call.ts';
import type { StoryClient } from '../client/client.ts';
import { MAX_COPIES } from './copies.ts';
import type { Copies } from './copies.ts';
import type { Lanes } from './lanes.ts';
import type { RecordWriter } from './record-writer.ts';

const POLL_MS = 10;
const WARM_UP_RETRY_MS = 2000;
/** About two minutes in all. */
const WARM_UPS = 10;

/** Messages of 2 KB that fit into the queues of all sockets (MAX_POD_QUEUE_BYTES). */
const MAX_MESSAGES_AHEAD = 96_000;
/** Messages of 2 KB that fit into the queue of one socket (MAX_QUEUE_BYTES). */
const MAX_RECORDS_AHEAD = 400;

/** Interval between the starts of two bursts. */
const BURST_MS = 1000;
/** Lines per write. */
const LINES_AT_ONCE = 50;

/**
 * Records that a closed loop keeps in flight to the slowest socket: enough that the pod always has work, few enough that one of the
 * talk's pods finishes and that crier closes no slow consumer.
 */
export function recordsAhead(sockets: number): number {
  return Math.max(1, Math.min(MAX_RECORDS_AHEAD, Math.floor(MAX_MESSAGES_AHEAD / sockets)));
}

/**
 * Writes rounds of one record per writer, at growing intervals, until each socket has received a record and a record of each writer has
 * arrived. @throws Error after the last round.
 */
export async function warmUp(
  client: Remote<StoryClient>,
  /** One per partition. */
  writers: readonly RecordWriter[],
  copies: Copies,
  signal: AbortSignal,
): Promise<{ messageBytes: number; written: number }> {
  const live = client.whenLive();
  for (let round = 1; round <= WARM_UPS; round++) {
    for (const [i, writer] of writers.entries()) void writer.write(copies.warmUp(round * writers.length + i));
    const answer = await Promise.race([live, delay(round * WARM_UP_RETRY_MS, undefined, { signal })]);
    if (answer) return { ...answer, written: round * writers.length };
  }
  throw new Error(`none of ${WARM_UPS} rounds of warm-up records reached every socket`);
}

export interface FloodPlan {
  readonly client: Remote<StoryClient>;
  readonly writers: readonly RecordWriter[];
  readonly copies: Copies;
  /** Numbers and counts the written copies. */
  readonly lanes: Lanes;
  readonly seconds: number;
  readonly signal: AbortSignal;
}

/** A closed loop: keeps `ahead` records in flight for `seconds`. Ends early when no socket is open. */
export async function closedLoopFlood(
  { client, writers, copies, lanes, seconds, signal }: FloodPlan,
  ahead: number,
): Promise<void> {
  const endsAt = performance.now() + seconds * 1000;
  let written = lanes.total;
  while (performance.now() < endsAt) {
    const { least } = await client.progress();
    if (least === undefined) break;
    const lines = writers.map(() => '');
    for (; written - least < ahead; written++) {
      const lane = written % writers.length;
      lines[lane] += copies.copy(lanes.take(lane));
    }
    for (const [i, writer] of writers.entries()) if (lines[i] !== '') void writer.write(lines[i]!);
    await delay(POLL_MS, undefined, { signal });
  }
}

/**
 * An open loop: each second the writers write `perSecond` records in one burst, regardless of deliveries. The rate doubles when less than
 * half a second's records are in flight at the end of a second. Returns the final rate.
 */
export async function openLoopFlood(
  { client, writers, copies, lanes, seconds, signal }: FloodPlan,
  perSecond: number,
): Promise<number> {
  const startedAt = performance.now();
  const leftMs = () => startedAt + seconds * 1000 - performance.now();
  const burst = async (writer: RecordWriter, lane: number) => {
    for (let left = Math.ceil(perSecond / writers.length); left > 0 && leftMs() > 0; left -= LINES_AT_ONCE) {
      let lines = '';
      for (let i = Math.min(left, LINES_AT_ONCE); i > 0; i--) lines += copies.copy(lanes.take(lane));
      await writer.write(lines);
      signal.throwIfAborted();
    }
  };
  for (let bursts = 1; lanes.total + perSecond < MAX_COPIES && leftMs() > 0; bursts++) {
    await Promise.all(writers.map(burst));
    const untilNextMs = startedAt + bursts * BURST_MS - performance.now();
    if (untilNextMs > 0) await delay(untilNextMs, undefined, { signal });
    const { least } = await client.progress();
    if (least === undefined) break;
    if (lanes.total - least < perSecond / 2 && leftMs() > 0) perSecond *= 2;
  }
  return perSecond;
}

const SILENCE_MS = 30_000;
/** A shorter pause is not worth a line. */
const SILENCE_NOTE_MS = 3000;

/**
 * Waits until every open socket has `produced` copies, at most `seconds`, and not longer than 30 s without a message. Returns whether
 * all have them. Calls `say` when messages have stopped coming.
 */
export async function drain(
  client: Remote<StoryClient>,
  produced: number,
  { seconds, signal, say }: { seconds: number; signal: AbortSignal; say: (line: string) => void },
): Promise<boolean> {
  const endsAt = performance.now() + seconds * 1000;
  let progressAt = performance.now();
  let before = -1;
  let isNoted = false;
  for (;;) {
    const { least, delivered } = await client.progress();
    const now = performance.now();
    if (least === undefined || least >= produced) return least !== undefined;
    if (delivered > before) progressAt = now;
    before = delivered;
    const silentMs = now - progressAt;
    if (now > endsAt || silentMs > SILENCE_MS) return false;
    if (silentMs > SILENCE_NOTE_MS && !isNoted) {
      say(
        `No message has arrived for ${SILENCE_NOTE_MS / 1000} s; the drain ends after ${SILENCE_MS / 1000} s without one.`,
      );
      isNoted = true;
    }
    await delay(POLL_MS, undefined, { signal });
  }
}
