import { missedBounds } from '../backlog/bounds.ts';
import type { StoryResult, StorySample } from '../result.ts';
import { percent, times, whole } from './figure-text.ts';

/** Above this share of its core the client may be what was measured. */
const BUSY_CLIENT_PERCENT = 80;

/** Below this share of its core something other than records held the pod up. */
const IDLE_POD_PERCENT = 70;

export const COUNTS_NOTE =
  'The talk ran on another machine. Only npm run loadtest -- --ladder measures its baseline on this one, for ratios that mean something.';

/** The verdict, then the facts that support it. */
export function remarks(result: StoryResult): string[] {
  const { faults, flood, sockets, clientCpuPercent, gcPercent, connectMs, producer } = result;
  const verdict =
    faults.length === 0
      ? `Reconciled: each of ${whole(flood.produced)} records reached each of ${whole(sockets)} sockets once, ` +
        `${whole(flood.delivered)} deliveries; the last one ${whole(flood.drainMs)} ms after the flood had stopped.`
      : `NOT reconciled: ${faults.join('; ')}.`;
  const client = `The client used ${percent(clientCpuPercent)} of its core in the flood`;
  return [
    verdict,
    ...openLoopRemarks(result),
    clientCpuPercent > BUSY_CLIENT_PERCENT
      ? `WARNING: ${client}, more than ${BUSY_CLIENT_PERCENT} %: the client, not the pod, may be what was measured.`
      : `${client}: the client did not limit the result.`,
    podRemark(result),
    `Garbage collection took ${gcPercent.toFixed(1)} % of the pod's CPU time in the flood; connecting took ${whole(connectMs)} ms; ` +
      `the records were written by ${producer}.`,
  ];
}

function openLoopRemarks({ openLoop, flood, sockets }: StoryResult): string[] {
  if (!openLoop) return [];
  const missed = missedBounds(openLoop.bounds);
  const { pacePerSecond, writtenPerSecond, undelivered, inKafka, age } = openLoop;
  const rate = (flood.sent / flood.durationMs) * 1000;
  return [
    missed.length === 0 ? 'Every bound was kept.' : `NOT kept: ${missed.join('; ')}.`,
    `The writers wrote ${whole(writtenPerSecond)} records a second, ${times((writtenPerSecond * sockets) / rate)} the delivered rate. ` +
      `The sockets received ${whole(rate)} messages a second, and ${whole(pacePerSecond)} in the pace phase.`,
    `When the writers stopped, ${whole(undelivered)} records had not reached every socket; ${whole(inKafka)} of them were in Kafka.`,
    `From publish to the last socket: p50 ${whole(age.p50Ms)} ms, p99 ${whole(age.p99Ms)} ms, at most ${whole(age.maxMs)} ms ` +
      `(${whole(age.count)} records).`,
  ];
}

/** The flood always has work for the pod, so a low CPU share means that other processes used its core. */
function podRemark({ samples }: StoryResult): string {
  const inFlood = samples.filter(({ phase }) => phase === 'flood');
  const sum = (of: (sample: StorySample) => number) => inFlood.reduce((total, sample) => total + of(sample), 0);
  const used = (sum(({ cpuMs }) => cpuMs) / sum(({ durationMs }) => durationMs)) * 100;
  const remark = `The pod used ${percent(used)} of a core in the flood`;
  return used < IDLE_POD_PERCENT
    ? `WARNING: ${remark}, though records were always waiting: Kafka, kcat or other programs kept the machine busy.`
    : `${remark}.`;
}
