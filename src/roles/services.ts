import type { Bus } from '../bus/bus.ts';
import type { Config } from '../config.ts';
import type { Graph } from '../graph/graph.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics.ts';

/** Something to close; `close` is idempotent and bounded in time, also for what was not started. */
export interface Component {
  close(): Promise<void>;
}

/** What both roles are put together from. */
export interface RoleServices {
  readonly config: Config;
  readonly graph: Graph;
  readonly bus: Bus;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Closes the component when the server closes, before every component registered earlier. Returns it. */
  readonly register: <T extends Component>(component: T) => T;
}
