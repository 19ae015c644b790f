import { startArguments } from '../../processes/start-arguments.ts';

/**
 * A server process of the story. Its environment has
 *
 * - `PORT`, `HOST`: it serves graphql-transport-ws there at /graphql, with the schema of loadtest/graphs/fanout, in the ladder that of
 *   examples/auction (`plainSdl()` returns them without directives);
 * - `ADMIN_PORT`: `GET /metrics` there returns the Prometheus counter `crier_records_consumed_total` with the records taken from Kafka,
 *   with or without labels (loadtest/story/pods/record-counter.ts serves it for other servers than crier);
 * - `KAFKA_BROKERS`, `KAFKA_GROUP_ID` (new for each run: it starts at the topic's end), `REDIS_URL`, `CHANNEL_PREFIX`.
 *
 * It consumes the topic `auction-events`, whose records are `loadtest/records/auction.json` with a number in `auction.version`, and
 * delivers each to every subscriber of `auction_updated(auction_id: 982451)`. SIGTERM ends it.
 */
export interface Pod {
  /** In kebab-case; part of file names. */
  readonly name: string;
  /** In tables and charts. */
  readonly title: string;
  /** Absolute, or relative to dist/loadtest. */
  readonly script: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Node's own flags, such as `--max-semi-space-size=16`. */
  readonly nodeArguments?: readonly string[];
  /** Default: the pod serves sockets. */
  readonly isWorkerOnly?: boolean;
  /** Default: the server's core. */
  readonly core?: number;
  /** File descriptor for standard output and standard error. Default: standard error is this process's. */
  readonly output?: number;
  /** Whether the flood stops it for half of the time. */
  readonly isSlow?: boolean;
}

/** crier as `npm start` runs it. */
export const crierPod: Pod = {
  name: 'crier',
  title: 'crier',
  script: '../src/main.js',
  environment: { ROLE: 'all', GRAPH: 'loadtest/graphs/fanout', LOG_LEVEL: 'error' },
  nodeArguments: startArguments(),
};
