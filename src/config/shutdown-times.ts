import { isEmbedded } from './mode.ts';
import type { Settings } from './settings.ts';

/** Settings of the shutdown, in ms, with the defaults that depend on other settings. */
export interface ShutdownTimes {
  readonly DRAIN_DELAY_MS: number;
  readonly DRAIN_SPREAD_MS: number;
  readonly SHUTDOWN_TIMEOUT_MS: number;
}

const DELAY_MS = 5_000;
const SPREAD_MS = 20_000;
/** Time for everything but the delay and the spread: close frames, Kafka, Redis, the log. */
const FINISH_MS = 15_000;

/** A worker has no sockets and never waits. An embedded pod is behind no load balancer and waits only if a setting asks for it. */
export function shutdownTimes(settings: Settings): ShutdownTimes {
  const hasSockets = settings.ROLE !== 'worker';
  const isBalanced = !isEmbedded(settings);
  const DRAIN_DELAY_MS = hasSockets ? (settings.DRAIN_DELAY_MS ?? (isBalanced ? DELAY_MS : 0)) : 0;
  const DRAIN_SPREAD_MS = hasSockets ? (settings.DRAIN_SPREAD_MS ?? (isBalanced ? SPREAD_MS : 0)) : 0;
  const SHUTDOWN_TIMEOUT_MS = settings.SHUTDOWN_TIMEOUT_MS ?? DRAIN_DELAY_MS + DRAIN_SPREAD_MS + FINISH_MS;
  return { DRAIN_DELAY_MS, DRAIN_SPREAD_MS, SHUTDOWN_TIMEOUT_MS };
}

/** Time in ms that SHUTDOWN_TIMEOUT_MS leaves for what follows the delay and the spread. */
export function finishMs({ DRAIN_DELAY_MS, DRAIN_SPREAD_MS, SHUTDOWN_TIMEOUT_MS }: ShutdownTimes): number {
  return SHUTDOWN_TIMEOUT_MS - DRAIN_DELAY_MS - DRAIN_SPREAD_MS;
}
