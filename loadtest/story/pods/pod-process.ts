import { once } from 'node:events';
import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { freePorts } from '../../../stack/port.ts';
import { startServerProcess } from '../../processes/server-process.ts';
import type { ServerProcess } from '../../processes/server-process.ts';
import type { Pod } from './pod.ts';

export interface PodProcess extends ServerProcess {
  readonly pod: Pod;
  /** Port of the WebSocket server, if the pod has one. */
  readonly port: number;
  readonly adminPort: number;
  /** Metrics in Prometheus' text format. A busy event loop delays the answer. */
  metrics(): Promise<string>;
}

export interface PodSurroundings {
  readonly kafkaBrokers: string;
  readonly redisUrl: string;
  readonly group: string;
  readonly channelPrefix: string;
}

/** Resolves when the pod listens. */
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
  const script = resolve(import.meta.dirname, '..', '..', pod.script);
  const listening = pod.isWorkerOnly ? adminPort : port;
  const server = await startServerProcess(script, listening, environment, pod.nodeArguments, pod.core, pod.output);
  return {
    ...server,
    pod,
    port,
    adminPort,
    metrics: () => getText({ host: '127.0.0.1', port: adminPort, path: '/metrics' }),
  };
}

/** Without keep-alive: a pod that was busy longer than its timeouts would close an idle connection. */
async function getText(where: { host: string; port: number; path: string }): Promise<string> {
  const [response] = (await once(get({ ...where, agent: false }), 'response')) as [IncomingMessage];
  return text(response);
}

/** Sum of all series of a counter in Prometheus' text format. */
export function sumOfCounter(metrics: string, name: string): number {
  let sum = 0;
  for (const line of metrics.split('\n')) {
    const match = /^(\w+)(?:\{.*\})? (\S+)/.exec(line);
    if (match?.[1] === name) sum += Number(match[2]);
  }
  return sum;
}
