import { readFileSync } from 'node:fs';
import { REDIS_BUILDS } from '../../stack/redis-program.ts';
import { NODE_LINES, testOnNode } from './node-lines.ts';
import type { NodeLine } from './node-lines.ts';
import { runShown } from './run-shown.ts';

/** What runs with a version of a server or runtime. */
export interface MatrixRow {
  /** Such as `Valkey 9.1.2`. */
  readonly name: string;
  /** @returns what `npm test` prints. @throws Error when a test fails */
  readonly run: (stop: AbortSignal) => Promise<string>;
}

/** What a Redis can change: the contract of the bus, flow control, clusters, scripts, states, histories. */
const OF_REDIS = ['bus', ...['two-pods', 'state', 'resume', 'redis-flood'].map((name) => `end-to-end/${name}`)];
/** What a Kafka can change: the client, groups, transactions, tombstones, releases. */
const OF_KAFKA = [
  'kafka',
  ...['publishing', 'releases', 'two-pods', 'tombstones', 'state'].map((name) => `end-to-end/${name}`),
];
/** Versions beside the one of stack/kafka/pom.xml. Kafka 4.4 has moved the tool by which a test replaces a password. */
const KAFKA_VERSIONS: Readonly<Record<string, readonly string[]>> = {
  '3.9.2': [],
  '4.4.0': ['--except=kafka/client/access/kafka-access'],
};

function runTests(names: readonly string[], env: Readonly<Record<string, string>>) {
  return (stop: AbortSignal) =>
    runShown(process.execPath, ['--enable-source-maps', 'dist/test/run.js', ...names], { stop, env });
}

const [, usualKafka] = /<kafka\.version>(.*?)</.exec(readFileSync('stack/kafka/pom.xml', 'utf8'))!;

export const MATRIX: readonly MatrixRow[] = [
  ...Object.entries(NODE_LINES).map(([line, version]) => ({
    name: `Node ${version}`,
    run: (stop: AbortSignal) => testOnNode(Number(line) as NodeLine, stop),
  })),
  { name: 'Redis 7.0, of Debian 12', run: runTests(OF_REDIS, { TEST_REDIS: '' }) },
  ...Object.entries(REDIS_BUILDS).map(([build, { name }]) => ({
    name,
    run: runTests(OF_REDIS, { TEST_REDIS: build }),
  })),
  { name: `Kafka ${usualKafka}`, run: runTests(OF_KAFKA, { TEST_KAFKA: '' }) },
  ...Object.entries(KAFKA_VERSIONS).map(([version, except]) => ({
    name: `Kafka ${version}`,
    run: runTests([...OF_KAFKA, ...except], { TEST_KAFKA: version }),
  })),
];
