import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { auctionMessages } from '../fanout/auction.ts';
import { callProcess } from '../processes/process-call.ts';
import { cpuMs } from '../processes/process-usage.ts';
import { stopProcess } from '../processes/server-process.ts';
import { CHANNEL } from './subscriber.ts';
import type { SubscriberPlan } from './subscriber.ts';

export type Way = 'each process' | 'one, and passed on';
export const WAYS: readonly Way[] = ['each process', 'one, and passed on'];

export interface HotChannelSample {
  readonly way: Way;
  /** Messages published at once. */
  readonly burst: number;
  /** CPU time in µs for a message, of the two processes. */
  readonly processesUs: number;
  readonly redisUs: number;
}

/** What it costs to bring the messages of one channel to two processes of a machine. @param redisPid of the server */
export async function hotChannelTrial(
  way: Way,
  burst: number,
  messages: number,
  redisUrl: string,
  redisPid: number,
): Promise<HotChannelSample> {
  const path = join(tmpdir(), `every-core-${process.pid}.sock`);
  const [other, first] = [startSubscriber(), startSubscriber()];
  const plans: readonly SubscriberPlan[] =
    way === 'each process' ? [{ redisUrl }, { redisUrl }] : [{ path }, { redisUrl, path }];
  const redis = new Redis(redisUrl);
  try {
    for (const [i, child] of [other, first].entries()) await callProcess(child, 'start', plans[i]);
    const messageOf = auctionMessages(1);
    const send = async (count: number) => {
      const before = await callProcess<number>(other, 'received');
      for (let sent = 0; sent < count; sent += burst) {
        await Promise.all(Array.from({ length: burst }, (_, i) => redis.publish(CHANNEL, messageOf(sent + i))));
      }
      while ((await callProcess<number>(other, 'received')) < before + count) await nextTurn();
    };
    await send(messages / 4);
    const pids = [other.pid!, first.pid!, redisPid];
    const before = pids.map(cpuMs);
    await send(messages);
    const [one, two, server] = pids.map((pid, i) => ((cpuMs(pid) - before[i]!) * 1000) / messages) as [
      number,
      number,
      number,
    ];
    return { way, burst, processesUs: one + two, redisUs: server };
  } finally {
    redis.disconnect();
    await Promise.all([first, other].map(stopProcess));
    await rm(path, { force: true });
  }
}

function startSubscriber(): ChildProcess {
  const script = join(import.meta.dirname, 'subscriber.js');
  return spawn(process.execPath, [script], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
}
