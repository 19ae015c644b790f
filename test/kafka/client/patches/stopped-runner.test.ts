import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { it } from 'node:test';
import { endStoppedRunners } from '../../../../src/kafka/client/patches/stopped-runner.ts';

type RunnerClass = new (options: object) => { start(): Promise<void>; stop(): Promise<void> };

const require = createRequire(import.meta.url);
const RUNNER = require.resolve('kafkajs/src/consumer/runner');

/** Fetches of a stopped consumer that count as endless. */
const ENDLESS = 1000;

const silent = () => {
  const logger = { debug: () => 0, info: () => 0, warn: () => 0, error: () => 0, namespace: () => logger };
  return logger;
};

/** kafkajs's class as it is loaded: other tests of the process may have patched the one that it uses. */
function unpatchedRunner(): RunnerClass {
  const used = require.cache[RUNNER];
  delete require.cache[RUNNER];
  const unpatched = require(RUNNER) as RunnerClass;
  require.cache[RUNNER] = used;
  return unpatched;
}

/** Stops a consumer of two brokers after a third has joined, while the fetch from the second is on its way. Returns how often it fetched afterwards. */
async function fetchesAfterStop(Runner: RunnerClass): Promise<number> {
  let nodes = ['1', '2'];
  let asked = 0;
  let hasStopped = false;
  const pending = new Map<string, () => void>();
  const consumerGroup = {
    connect: () => Promise.resolve(),
    joinAndSync: () => Promise.resolve(),
    leave: () => Promise.resolve(),
    heartbeat: () => Promise.resolve(),
    // Each fetch asks for the nodes first.
    getNodeIds: () => {
      if (hasStopped && ++asked > ENDLESS) throw new Error('the stopped consumer fetches for ever');
      return nodes;
    },
    fetch: (node: string) => new Promise((resolve) => pending.set(node, () => resolve([]))),
  };
  const runner = new Runner({
    logger: silent(),
    consumerGroup,
    instrumentationEmitter: { emit: () => undefined },
    concurrency: 1,
    retry: { retries: 0 },
    onCrash: () => undefined,
  });
  await runner.start();
  nodes = [...nodes, '3'];
  pending.get('1')!();
  // The first fetcher has seen the new broker, and waits for the second to end.
  await new Promise(setImmediate);
  const stopped = runner.stop();
  hasStopped = true;
  pending.get('2')!();
  await stopped;
  return asked;
}

it('a consumer that is stopped while a broker joins fetches no more; without the patch it does so for ever', async () => {
  assert.ok((await fetchesAfterStop(unpatchedRunner())) > ENDLESS);
  const undo = endStoppedRunners();
  try {
    assert.ok((await fetchesAfterStop(require(RUNNER) as RunnerClass)) < 10);
  } finally {
    undo();
  }
});
