import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startRedisServer } from '../../stack/redis-server.ts';
import type { RedisServer } from '../../stack/redis-server.ts';
import { startPod } from '../end-to-end/pod-server.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { withOutside } from '../kafka/consumer-harness.ts';
import type { Outside } from '../kafka/consumer-harness.ts';
import { randomName } from '../support/services.ts';
import { openSocket } from '../support/socket.ts';
import { RECIPES } from './recipe-events.ts';
import type { RecipeRecord } from './recipe-events.ts';
import { recipeOfPage } from './recipe.ts';

const RECORDINGS = join('test', 'kafka', 'fixtures', 'recipes');

interface Recording {
  readonly settings: Readonly<Record<string, string>>;
  readonly records: readonly RecipeRecord[];
}

/** The graph with each topic under a prefix: other tests share the Kafka. */
function prefixed(graph: string, prefix: string): string {
  return graph.replaceAll(/topics?: (?:"[^"]*"|\[[^\]]*\])/g, (topics) =>
    topics.replaceAll(/"([^"]+)"/g, `"${prefix}.$1"`),
  );
}

describe('a recipe of docs/recipes', { timeout: 120_000, concurrency: true }, () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));
  let redis: RedisServer;
  before(async () => (redis = await startRedisServer()));
  after(() => redis.stop());

  for (const recipe of RECIPES) {
    it(recipe.name, async (t) => {
      const { title, recording, operations, channels, events, isUnordered, early = [] } = recipe;
      const { graph, settings } = recipeOfPage(title);
      const recorded = recording === undefined ? undefined : recordingOf(recording);
      // Those of the other recording are for records without schemas.
      if (recorded && recording !== 'mysql_schemas') assert.deepEqual(recorded.settings, settings);
      const records = recorded?.records ?? recipe.records ?? [];
      const prefix = randomName('recipe');
      for (const topic of new Set([...records, ...early].map(({ topic }) => topic))) {
        await outside.createTopic(`${prefix}.${topic}`, 1);
      }
      const send = async (written: readonly RecipeRecord[]) => {
        for (const { topic, key, value, headers = {} } of written) {
          await outside.send(`${prefix}.${topic}`, [{ partition: 0, key, value, headers }]);
        }
      };
      await send(early);
      const pod = await startPod(t, {
        GRAPH: await graphFolder(t, { 'schema.graphql': prefixed(graph, prefix) }),
        KAFKA_BROKERS: outside.brokers,
        KAFKA_GROUP_ID: prefix,
        KAFKA_DEAD_LETTER_TOPIC: `${prefix}.dead`,
        KAFKA_FROM_BEGINNING: 'true',
        REDIS_URL: redis.url,
        CHANNEL_PREFIX: prefix,
      });
      for (const { topic } of early) {
        await pod.counts(`crier_states_complete{topic="${prefix}.${topic}"}`, 1);
        await pod.counts(`crier_records_consumed_total{topic="${prefix}.${topic}"}`, early.length);
      }
      const socket = await openSocket(t, pod.url, { patienceMs: 30_000 });
      await socket.init();
      for (const [id, field] of Object.entries(operations)) socket.subscribe(id, `subscription { ${field} }`);
      await pod.counts('crier_channels', channels);
      const states = early.length > 0 ? await socket.take(Object.keys(operations).length) : [];
      await send(records);
      const count = Object.values(events).reduce((sum, { length }) => sum + length, 0);
      const messages = await socket.take(count - states.length).catch((error: Error) => {
        throw new Error(`${error.message}; there are ${JSON.stringify(socket.unread)}\n${pod.log}`);
      });
      assert.deepEqual(await socket.roundTrip(), []);
      const received: Record<string, unknown[]> = {};
      for (const { id, payload } of [...states, ...messages]) {
        const { data, errors } = payload as { data?: Record<string, unknown>; errors?: unknown };
        assert.equal(errors, undefined);
        const text = JSON.stringify(Object.values(data!)[0]).replaceAll(`${prefix}.`, '');
        (received[id as string] ??= []).push(JSON.parse(text));
      }
      for (const [metric, value] of Object.entries(recipe.counts ?? {})) {
        await pod.counts(metric.replace('TOPIC', `${prefix}.${records[0]!.topic}`), value);
      }
      if (isUnordered) for (const list of Object.values(received)) list.sort(byText);
      assert.deepEqual(received, events);
    });
  }
});

function recordingOf(name: string): Recording {
  return JSON.parse(readFileSync(join(RECORDINGS, `${name}.json`), 'utf8')) as Recording;
}

const byText = (one: unknown, other: unknown) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1);
