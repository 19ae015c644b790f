import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readTopics } from '../../stack/topics.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

describe('readTopics', () => {
  it('names every topic of a graph once, with what any of its fields says: of topic, of topics, of the values of an enum, and of @kafkaPublish', async (t) => {
    const folder = await temporaryFolder(t);
    const schema = `
      enum Region { eu us }
      type Mutation { d(id: ID!): Int @kafkaPublish(topic: "written", key: "id") }
      type Subscription {
        a(id: Int!): Int @kafka(topic: "one", match: { arg: "id", path: "a.lot_id" })
        b: Int @kafka(topics: ["one", "two"], state: {}, format: AVRO)
        c(regions: [Region!]): Int @kafka(topic: "orders-{regions}")
      }`;
    await writeFile(join(folder, 'schema.graphql'), schema);
    const plain = { isCompacted: false, hasSchema: false };
    const kept = { isCompacted: true, hasSchema: true };
    assert.deepEqual(await readTopics(folder), [
      { name: 'one', ...kept, example: '{"a":{"lot_id":1}}' },
      { name: 'two', ...kept, example: '{}' },
      { name: 'orders-eu', ...plain, example: '{}' },
      { name: 'orders-us', ...plain, example: '{}' },
      { name: 'written', ...plain, example: '{}' },
    ]);
  });
});
