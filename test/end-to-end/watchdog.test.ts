import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { spawnPod } from './pod.ts';
import type { Pod } from './pod.ts';

/** A pod whose event loop runs `code` and never turns again. It is not the pod's own deadline that ends it. */
async function blockedPod(t: TestContext, code: string): Promise<Pod> {
  const GRAPH = await graphFolder(t, {
    'schema.graphql': 'type Order { id: ID }\ntype Subscription { order: Order @kafka(topic: "orders") }',
    'resolvers.js': `const block = () => { process.stdout.write('blocked'); for (;;); };\n${code}`,
  });
  const pod = spawnPod(t, { GRAPH, SHUTDOWN_TIMEOUT_MS: '1000' });
  await pod.until('the loop to block', () => pod.output.includes('blocked'));
  return pod;
}

describe('the watchdog', () => {
  for (const [what, code] of [
    ['at the import of a module of the graph', 'block();'],
    ['in a callback of the graph', 'setTimeout(block, 500);'],
  ] as const) {
    it(`ends a pod after SHUTDOWN_TIMEOUT_MS whose event loop is blocked ${what} before SIGTERM`, async (t) => {
      const pod = await blockedPod(t, code);
      assert.equal(await pod.stop(), 'SIGKILL');
      assert.match(pod.log, /the event loop is blocked/);
    });
  }

  it('ends such a pod at the third signal, without waiting for SHUTDOWN_TIMEOUT_MS', async (t) => {
    const GRAPH = await graphFolder(t, {
      'schema.graphql': 'type Order { id: ID }\ntype Subscription { order: Order @kafka(topic: "orders") }',
      'resolvers.js': `process.stdout.write('blocked'); for (;;);`,
    });
    const pod = spawnPod(t, { GRAPH, SHUTDOWN_TIMEOUT_MS: '3600000' });
    await pod.until('the loop to block', () => pod.output.includes('blocked'));
    // Signals of one kind that are not handled yet merge into one.
    const sending = setInterval(() => pod.process.kill('SIGTERM'), 100);
    t.after(() => clearInterval(sending));
    assert.equal(await pod.ended, 'SIGKILL');
  });
});
