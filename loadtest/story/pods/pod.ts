import { CRIER, startServer } from '../../processes/server-process.ts';
import type { ServerOptions, ServerProcess } from '../../processes/server-process.ts';
import { startArguments } from '../../processes/start-arguments.ts';
import type { Scope } from '../../runner/scope.ts';

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
export interface Pod extends ServerOptions {
  /** In kebab-case; part of file names. */
  readonly name: string;
  /** In tables and charts. */
  readonly title: string;
  /** Whether the flood stops it for half of the time. */
  readonly isSlow?: boolean;
}

export interface PodSurroundings {
  readonly kafkaBrokers: string;
  readonly redisUrl: string;
  readonly group: string;
  readonly channelPrefix: string;
}

/** crier as `npm start` runs it. */
export const crierPod: Pod = {
  name: 'crier',
  title: 'crier',
  script: CRIER,
  environment: { ROLE: 'all', GRAPH: 'loadtest/graphs/fanout', LOG_LEVEL: 'error' },
  nodeArguments: startArguments(),
};

/** Resolves when the pod listens. */
export function startPod(pod: Pod, where: PodSurroundings, scope: Pick<Scope, 'after'>): Promise<ServerProcess> {
  const { kafkaBrokers, redisUrl, group, channelPrefix } = where;
  const environment = {
    ...{ KAFKA_BROKERS: kafkaBrokers, KAFKA_GROUP_ID: group, REDIS_URL: redisUrl, CHANNEL_PREFIX: channelPrefix },
    ...pod.environment,
  };
  return startServer({ ...pod, environment }, scope);
}
