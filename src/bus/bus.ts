import type { Feed } from './feed.ts';
import type { Flow } from './flow/flow-control.ts';
import type { Publisher } from './publisher.ts';
import type { Shared } from './shared.ts';

/**
 * The seam between the two halves of crier: the worker publishes, the gateway subscribes. Two implementations (redis,
 * memory) keep the one contract of `test/bus/contract.ts`. A reader takes the part that it needs.
 */
export interface Bus extends Publisher, Feed, Flow, Shared {
  /**
   * Connects. Resolves after the first attempt, also a failed one: the bus keeps connecting in the background (`isAvailable`).
   * @throws BusUnavailableError when the bus is closed.
   */
  start(): Promise<void>;
  /** True while every server behind the bus answers. */
  readonly isAvailable: boolean;
  /** `host:port` of each server that does not answer. */
  readonly awayServers: readonly string[];
  /** Idempotent and bounded in time; later calls return the same promise. */
  close(): Promise<void>;
}

/** Receives what a bus does, for metrics. Called synchronously; must not throw. */
export interface BusObserver {
  /** Messages of one `publish` that were all accepted. */
  onPublish?(messages: number): void;
  /** Messages of one `publish` that was refused as a whole; 0: a lease was refused, without which nothing is published. `reason`: publish-failure.ts lists them. */
  onPublishFailure?(messages: number, reason: string): void;
  /** These channels were without a subscription for a while and have one again: messages may have been missed. */
  onGap?(channels: readonly string[]): void;
  /** A message that was published on a server came back from it, `ms` later. Measured every few seconds. */
  onRoundTrip?(server: string, ms: number): void;
  /** A lost link to a server is back. */
  onReconnect?(): void;
}
