import type { Bus } from '../bus/bus.ts';
import type { Config } from '../config.ts';
import type { Graph } from '../graph/graph.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics.ts';

/** Something to close; `close` is idempotent and bounded in time, also for what was not started. */
export interface Part {
  close(): Promise<void>;
}

/** What both roles are put together from. */
export interface RoleServices {
  readonly config: Config;
  readonly graph: Graph;
  readonly bus: Bus;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Notes that a part is to be closed, before all that were noted earlier; gives it back. */
  readonly own: <T extends Part>(part: T) => T;
}
