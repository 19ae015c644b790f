import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { freePorts } from '../../deploy/port.ts';
import { startServerProcess } from '../server-process.ts';
import type { ServerProcess } from '../server-process.ts';
import type { Pod } from './pod.ts';

export interface PodProcess extends ServerProcess {
  readonly port: number;
  /** What the pod's counter says; late where its event loop is busy. */
  recordsConsumed(): Promise<number>;
}

/** Starts a pod with a consumer group and channels of its own. Resolves when it listens. */
export async function startPod(pod: Pod, kafkaBrokers: string, redisUrl: string): Promise<PodProcess> {
  const [port, adminPort] = (await freePorts(2)) as [number, number];
  const name = `${pod.name}-${randomBytes(4).toString('hex')}`;
  const environment = {
    KAFKA_BROKERS: kafkaBrokers,
    KAFKA_GROUP_ID: name,
    REDIS_URL: redisUrl,
    CHANNEL_PREFIX: `${name}:`,
    ADMIN_PORT: String(adminPort),
    ...pod.environment,
  };
  const script = new URL(`../${pod.script}`, import.meta.url).pathname;
  const server = await startServerProcess(script, port, environment, pod.nodeArguments);
  return {
    ...server,
    port,
    recordsConsumed: async () => {
      const metrics = await getText({ host: '127.0.0.1', port: adminPort, path: '/metrics' });
      return sumOfCounter(metrics, 'crier_records_consumed_total');
    },
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
