/** Tests outside the mirrored folder that cover a folder of src. */
export const MORE_TESTS: Readonly<Record<string, readonly string[]>> = {
  bus: ['gateway/websocket/bus-outage', 'gateway/websocket/log-hygiene'],
  client: ['gateway/websocket/stock-client'],
  'graph/context': ['gateway/fanout/sharing/leak', 'graph/execution/executor'],
  'gateway/fanout': [
    'gateway/websocket/resume',
    'gateway/websocket/websocket-endpoint',
    'gateway/websocket/churn',
    'gateway/websocket/log-hygiene',
    'gateway/websocket/bus-outage',
  ],
  graph: ['gateway/fanout/sharing/leak', 'gateway/fanout/sharing/sharing', 'kafka/decoding/converter'],
  'base/json': [
    'kafka/decoding/key-rewriter',
    'kafka/decoding/record',
    'kafka/decoding/converter',
    'graph/projection/differential',
    'graph/execution/executor',
  ],
  kafka: ['end-to-end/two-pods'],
  'gateway/websocket': ['gateway/fanout/outbox/outbox', 'end-to-end/drain'],
};

/** A test of one of these folders needs a Kafka. */
const NEEDS_KAFKA = ['kafka', 'end-to-end', 'faults'];

/** The names that `selectTestFiles` takes. */
export function testsOf(folder: string): string[] {
  return [folder, ...(MORE_TESTS[folder] ?? [])];
}

export function needsKafka(testFiles: readonly string[]): boolean {
  return testFiles.some((file) => NEEDS_KAFKA.includes(file.split('/', 1)[0]!));
}

/**
 * Sorts the tests of a source (`src/bus/redis/redis-bus.ts`): first those with its name (`bus/redis/redis-bus.test.js`), then the
 * quickest.
 */
export function inOrderFor(source: string, tests: readonly { file: string; ms: number }[]): string[] {
  const name = source.replace(/^src\//, '').replace(/\.ts$/, '');
  const rank = (file: string) => (file === `${name}.test.js` ? 0 : file.startsWith(`${name}-`) ? 1 : 2);
  return [...tests].sort((a, b) => rank(a.file) - rank(b.file) || a.ms - b.ms).map(({ file }) => file);
}
