import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KafkaClient } from '../../../src/kafka/client/kafka-client.ts';
import { KafkaLink } from '../../../src/kafka/client/kafka-link.ts';

function createLink() {
  const destroyed: number[] = [];
  let clients = 0;
  const link = new KafkaLink({
    createClient: () => {
      const id = clients++;
      return { destroy: () => void destroyed.push(id) } as unknown as KafkaClient;
    },
    createEndpoint: () => ({ connect: () => Promise.resolve(), disconnect: () => Promise.resolve() }),
    timeoutMs: 60_000,
  });
  return { link, destroyed, clients: () => clients };
}

/** A use that lasts until `end` is called. */
function startUse(link: ReturnType<typeof createLink>['link']) {
  let end!: () => void;
  const ended = new Promise<void>((resolve) => (end = resolve));
  return { use: link.use(() => ended), end };
}

describe('KafkaLink', () => {
  it('connects again after a use that failed, and lets the running uses end first', async () => {
    const { link, destroyed, clients } = createLink();
    const { use, end } = startUse(link);
    await assert.rejects(
      link.use(() => Promise.reject(new Error('refused'))),
      /refused/,
    );
    await link.use(() => Promise.resolve());
    assert.deepEqual([clients(), destroyed], [2, []]);
    end();
    await use;
    assert.deepEqual(destroyed, [0]);
  });

  it('retires once its running uses have ended', async () => {
    const { link, destroyed } = createLink();
    const { use, end } = startUse(link);
    link.retire();
    assert.deepEqual(destroyed, []);
    end();
    await use;
    assert.deepEqual(destroyed, [0]);
    await link.use(() => Promise.resolve());
    link.retire();
    assert.deepEqual(destroyed, [0, 1]);
  });
});
