import { setTimeout as delay } from 'node:timers/promises';
import type { StoryClient } from '../client/client-calls.ts';
import { MOST_COPIES } from './copies.ts';
import type { Copies } from './copies.ts';
import type { Lanes } from './lanes.ts';
import type { RecordWriter } from './record-writer.ts';

const POLL_MS = 10;
const WARM_UP_RETRY_MS = 2000;
/** Two minutes in all. */
const WARM_UPS = 10;

/** What crier lets wait for all of its sockets (MAX_POD_QUEUE_BYTES) has room for so many messages of the story's 2 KB. */
const MOST_MESSAGES_AHEAD = 96_000;
/** And for one of them (MAX_QUEUE_BYTES). */
const MOST_RECORDS_AHEAD = 400;

/** Bursts of a flood begin so far apart. */
const BURST_MS = 1000;
/** What a writer is given at once. */
const LINES_AT_ONCE = 50;

/**
 * How many records a paced flood is ahead of the slowest socket: always enough that the pod has more to do, never so many that a pod of
 * the talk's speed would not end, and that a pod which sheds slow consumers would shed.
 */
export function recordsAhead(sockets: number): number {
  return Math.max(1, Math.min(MOST_RECORDS_AHEAD, Math.floor(MOST_MESSAGES_AHEAD / sockets)));
}

/**
 * Writes a record by each of these writers, again and again, at longer and longer intervals, until each socket has got one and one of
 * each writer has arrived. @throws Error when that is not so after all of them.
 */
export async function warmUp(
  client: StoryClient,
  /** One for each partition. */
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
  throw new Error(`of ${WARM_UPS} rounds of records before the flood none has reached every socket`);
}

export interface FloodPlan {
  readonly client: StoryClient;
  readonly writers: readonly RecordWriter[];
  readonly copies: Copies;
  /** Counts what is written. */
  readonly lanes: Lanes;
  readonly seconds: number;
  readonly signal: AbortSignal;
}

/** A closed loop: keeps `ahead` records on their way for so many seconds. Ends early when no socket is open. */
export async function pacedFlood(
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
 * An open loop: each second all writers together write `perSecond` records as fast as they can, whatever has arrived; from the next
 * second on twice as many where less than half a second's records are still on their way. Returns how many were written in the last one.
 */
export async function freeFlood(
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
  for (let bursts = 1; lanes.total + perSecond < MOST_COPIES && leftMs() > 0; bursts++) {
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
 * all have them. Calls `note` when messages have stopped coming.
 */
export async function drain(
  client: StoryClient,
  produced: number,
  { seconds, signal, note }: { seconds: number; signal: AbortSignal; note: (line: string) => void },
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
      note(
        `No message has arrived for ${SILENCE_NOTE_MS / 1000} s; the drain ends after ${SILENCE_MS / 1000} s without one.`,
      );
      isNoted = true;
    }
    await delay(POLL_MS, undefined, { signal });
  }
}
