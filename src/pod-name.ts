import { hostname } from 'node:os';
import type { Config } from './config.ts';

/** What this pod calls itself: POD_NAME, or its host name. */
export function podName({ POD_NAME }: Pick<Config, 'POD_NAME'>): string {
  return POD_NAME || hostname();
}
