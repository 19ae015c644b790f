import { once } from 'node:events';
import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { freePorts } from '../../../deploy/port.ts';
import { startServerProcess } from '../../processes/server-process.ts';
import type { ServerProcess } from '../../processes/server-process.ts';
import type { Pod } from './pod.ts';

export interface PodProcess extends ServerProcess {
  readonly pod: Pod;
  /** Where it serves sockets, if it does. */
  readonly port: number;
  /** Its metrics as text; late where its event loop is busy. */
  metrics(): Promise<string>;
}

export interface PodSurroundings {
  readonly kafkaBrokers: string;
  readonly redisUrl: string;
  readonly group: string;
  readonly channelPrefix: string;
}

/** Resolves when it listens. */
export async function startPod(pod: Pod, surroundings: PodSurroundings): Promise<PodProcess> {
  const [port, adminPort] = (await freePorts(2)) as [number, number];
  const environment = {
    KAFKA_BROKERS: surroundings.kafkaBrokers,
    KAFKA_GROUP_ID: surroundings.group,
    REDIS_URL: surroundings.redisUrl,
    CHANNEL_PREFIX: surroundings.channelPrefix,
    ADMIN_PORT: String(adminPort),
    ...pod.environment,
  };
  const script = new URL(`../../${pod.script}`, import.meta.url).pathname;
  const listening = pod.isWorkerOnly ? adminPort : port;
  const server = await startServerProcess(script, listening, environment, pod.nodeArguments, pod.core);
  return {
    ...server,
    pod,
    port,
    metrics: () => getText({ host: '127.0.0.1', port: adminPort, path: '/metrics' }),
  };
}

/** On a connection of its own: one that is kept would be closed by a pod that was busy longer than its timeouts. */
async function getText(where: { host: string; port: number; path: string }): Promise<string> {
  const [response] = (await once(get({ ...where, agent: false }), 'response')) as [IncomingMessage];
  return text(response);
}

/** All series of a counter in Prometheus' text format, added up. */
export function sumOfCounter(metrics: string, name: string): number {
  let sum = 0;
  for (const line of metrics.split('\n')) {
    const match = /^(\w+)(?:\{.*\})? (\S+)/.exec(line);
    if (match?.[1] === name) sum += Number(match[2]);
  }
  return sum;
}
