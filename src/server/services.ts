import type { Bus } from '../bus/bus.ts';
import type { Config } from '../config/config.ts';
import type { OperationTallies } from '../graph/documents/operation-tallies.ts';
import type { EmbeddedTopics } from '../graph/embedded/embedded-topics.ts';
import type { Graph } from '../graph/graph-parts.ts';
import type { Route } from '../gateway/http/route.ts';
import type { Logger } from '../base/log.ts';
import type { OperationLookup } from '../ops/live/operation-lookup.ts';
import type { MemoryPressure } from '../ops/memory/memory-pressure.ts';
import type { Metrics } from '../ops/metrics/metrics.ts';
import type { Tracing } from '../ops/tracing/tracing.ts';
import type { TunablesRegistry } from '../ops/tunables/tunables-registry.ts';
import type { Versioned } from './versioned.ts';

/** A component to close. `close` is idempotent, bounded in time, and safe before the start. */
export interface Component {
  close(): Promise<void>;
}

/** What publishes records. */
export interface Worker extends Component {
  start(): unknown;
}

/** Components that both roles use. */
export interface RoleServices {
  readonly config: Config;
  /** Settings that change while the server runs. `config` has their values at the start. */
  readonly tunables: TunablesRegistry;
  /** The graph that the pod serves: a reload replaces it. */
  readonly graph: Versioned<Graph>;
  readonly bus: Bus;
  /** undefined: records come from Kafka. */
  readonly embedded?: EmbeddedTopics | undefined;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** What `/readyz` shows, by name. */
  readonly details: Record<string, () => unknown>;
  /** undefined: nothing is traced. */
  readonly tracing?: Tracing | undefined;
  /** Closes the component when the server closes, before every component registered earlier. Returns it. */
  readonly register: <T extends Component>(component: T) => T;
}

/** The dashboard of this pod. `close` ends its streams. */
export interface Live extends Component {
  /** Its page, and the subscription that feeds it, by path. */
  readonly routes: ReadonlyMap<string, Route>;
  /** Of the operations of clients; absent: there are none, or the gateway has not opened. */
  lookUp?: OperationLookup;
}

/** What the gateway needs besides. */
export interface GatewayServices extends RoleServices {
  readonly memory: MemoryPressure;
  /** True while the event loop stays later than a second. */
  readonly isLoopLate: () => boolean;
  /** Makes `/readyz` return 503 and name the reason while `isTrue()`. */
  readonly unreadyWhile: (reason: string, isTrue: () => boolean) => void;
  /** Of the admin port, by path. */
  readonly routes: Map<string, Route>;
  readonly live: Live;
  /** Of the operations of clients. */
  readonly tallies: OperationTallies;
  /** Aborted when the pod begins to drain. */
  readonly draining: AbortSignal;
  /** Once aborted, a drain must not wait any longer. */
  readonly fastShutdown: AbortSignal;
}
