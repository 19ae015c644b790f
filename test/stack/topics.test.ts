import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readTopics } from '../../stack/topics.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

describe('readTopics', () => {
  it('names every topic of a graph once: of topic, of topics, and of the values of an enum', async (t) => {
    const folder = await temporaryFolder(t);
    const schema = `
      enum Region { eu us }
      type Subscription {
        a(id: Int!): Int @kafka(topic: "one", match: { arg: "id", path: "a.lot_id" })
        b: Int @kafka(topics: ["one", "two"])
        c(regions: [Region!]): Int @kafka(topic: "orders-{regions}")
      }`;
    await writeFile(join(folder, 'schema.graphql'), schema);
    assert.deepEqual(await readTopics(folder), [
      { name: 'one', example: '{"a":{"lotId":1}}' },
      { name: 'two', example: '{}' },
      { name: 'orders-eu', example: '{}' },
      { name: 'orders-us', example: '{}' },
    ]);
  });
});
