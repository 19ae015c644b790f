import { hostname } from 'node:os';
import type { Config } from './config.ts';

/** What this pod calls itself: POD_NAME, or its host name. */
export function podName({ POD_NAME }: Pick<Config, 'POD_NAME'>): string {
  return POD_NAME || hostname();
}

/** What this process calls itself among all of the bus: of a pod of several processes, each has its name beside the pod's. */
export function processName({ process, ...config }: Pick<Config, 'POD_NAME' | 'process'>): string {
  const pod = podName(config);
  return process === undefined ? pod : `${pod}/${process}`;
}
