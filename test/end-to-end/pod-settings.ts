import type { TestContext } from 'node:test';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { randomName, redisServer } from '../support/services.ts';

/** Settings of a pod that serves a schema: with a group, a dead-letter topic, a Redis and a prefix of its own. */
export async function podSettings(t: TestContext, brokers: string, schema: string) {
  return {
    GRAPH: await graphFolder(t, { 'schema.graphql': schema }),
    KAFKA_BROKERS: brokers,
    KAFKA_GROUP_ID: randomName('group'),
    KAFKA_DEAD_LETTER_TOPIC: randomName('dead'),
    REDIS_URL: (await redisServer(t)).url,
    CHANNEL_PREFIX: randomName(),
  };
}
