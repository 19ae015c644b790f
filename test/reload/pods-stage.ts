import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Pod } from '../end-to-end/pod.ts';
import { startPod } from '../end-to-end/pod-server.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import type { Outside } from '../kafka/consumer-harness.ts';
import { randomName, redisServer } from '../support/services.ts';

interface Report {
  readonly pods: readonly { pod: string; outcome: string; revision: string; problems?: string[] }[];
  readonly silent: readonly string[];
  readonly note?: string;
}

export async function postReload(pod: Pod): Promise<{ status: number; report: Report }> {
  const response = await fetch(`${pod.admin}/admin/reload`, { method: 'POST' });
  return { status: response.status, report: (await response.json()) as Report };
}

/**
 * A topic of two partitions, the folder of a graph, and pods that serve it.
 * @param resolvers text of resolvers.js
 */
export async function podsStage(
  t: TestContext,
  outside: Outside,
  { schemaOf, resolvers }: { readonly schemaOf: (topic: string) => string; readonly resolvers: string },
) {
  const topic = await outside.createTopic(undefined, 2);
  const folder = await graphFolder(t, { 'schema.graphql': schemaOf(topic), 'resolvers.js': resolvers });
  const settings = {
    GRAPH: folder,
    KAFKA_BROKERS: outside.brokers,
    KAFKA_GROUP_ID: randomName('group'),
    KAFKA_DEAD_LETTER_TOPIC: randomName('dead'),
    REDIS_URL: (await redisServer(t)).url,
    CHANNEL_PREFIX: randomName(),
  };
  let sent = 0;
  return {
    topic,
    folder,
    settings,
    start: (name: string, more: Readonly<Record<string, string>> = {}) =>
      startPod(t, { ...settings, POD_NAME: name, ...more }),
    /** Sends records of item 1, numbered from 0 on, to one partition. */
    send: async (to: string, count: number) => {
      const records = Array.from({ length: count }, () => ({
        key: '1',
        value: JSON.stringify({ id: '1', n: sent++ }),
      }));
      await outside.send(to, records);
    },
    sent: () => sent,
    write: (name: string, text: string) => writeFile(join(folder, name), text),
  };
}
