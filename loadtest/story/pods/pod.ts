import { startArguments } from '../../processes/start-arguments.ts';

/**
 * One server process that the story is run against. It gets in its environment
 *
 * - `PORT`, `HOST`: where it serves graphql-transport-ws at /graphql, with the schema of loadtest/graphs/fanout (`plainSdl()` is it
 *   without directives);
 * - `ADMIN_PORT`: where `GET /metrics` answers with the Prometheus counter `crier_records_consumed_total`, with or without
 *   labels: records that it has taken from Kafka (loadtest/story/pods/record-counter.ts serves it for pods that are not crier);
 * - `KAFKA_BROKERS`, `KAFKA_GROUP_ID` (new for each run: it starts at the topic's end), `REDIS_URL`, `CHANNEL_PREFIX`.
 *
 * It consumes the topic `auction-events`, whose records are `loadtest/records/auction.json` with a number in `auction.version`, and
 * brings each to every subscriber of `auction_updated(auction_id: 982451)`. SIGTERM ends it.
 */
export interface Pod {
  /** In kebab-case: also names files. */
  readonly name: string;
  /** For tables and pictures. */
  readonly title: string;
  /** Relative to dist/loadtest. */
  readonly script: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** For node, before the script: `--max-semi-space-size=16`. */
  readonly nodeArguments?: readonly string[];
  /** Default: it serves sockets. */
  readonly isWorkerOnly?: boolean;
  /** Default: the server's. */
  readonly core?: number;
  /** In the flood it may run for half of the time only. */
  readonly isSlow?: boolean;
}

/** As `npm start` runs it. */
export const crierPod: Pod = {
  name: 'crier',
  title: 'crier',
  script: '../src/main.js',
  environment: { ROLE: 'all', GRAPH: 'loadtest/graphs/fanout', LOG_LEVEL: 'error' },
  nodeArguments: startArguments(),
};
