import type { TestContext } from 'node:test';
import type { Pod } from '../end-to-end/pod.ts';
import { spawnPod } from '../end-to-end/pod-process.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { HOST } from './outside.ts';

/** Counts all the time; `quiet` has no events. */
const GRAPH = {
  'schema.graphql': `
    type Query { address: String }
    type Subscription { tick: Tick @kafka(topic: "ticks") quiet: Tick @kafka(topic: "silence") }
    type Tick { n: Int }`,
  'resolvers.js': 'export const Query = { address: (source, args, context) => context.connection.address };',
  'samples.js': 'export function* records() { for (let n = 0; ; n++) yield { topic: "ticks", value: { n } }; }',
};

export const TICKS = 'subscription { tick { n } }';
export const QUIET = 'subscription { quiet { n } }';

/** Two pods without Kafka and Redis, as docs/operate/proxies.md sets them, for a proxy at 127.0.0.1. */
export async function startPods(
  t: TestContext,
  settings: Readonly<Record<string, string>> = {},
): Promise<readonly [Pod, Pod]> {
  const all = {
    GRAPH: await graphFolder(t, GRAPH),
    PUBLIC_ORIGIN: `https://${HOST}`,
    TRUSTED_PROXIES: '127.0.0.1',
    SAMPLE_INTERVAL_MS: '20',
    ...settings,
  };
  const [one, two] = [spawnPod(t, all), spawnPod(t, all)];
  return Promise.all([one.started(), two.started()]);
}
