import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { createTopics } from '../../../stack/topics.ts';
import { startPod } from '../../end-to-end/pod-server.ts';
import { graphFolder } from '../../graph/support/graph-folder.ts';
import { withOutside } from '../../kafka/consumer-harness.ts';
import type { Outside } from '../../kafka/consumer-harness.ts';
import { randomName, redisServer } from '../../support/services.ts';
import { waitFor } from '../../support/wait-for.ts';
import { fromNow, signWith } from '../identity/identity-provider.ts';
import { openGraphiql } from './graphiql-page.ts';

const PATIENCE_MS = 60_000;
const SECRET = 'a secret of this test, of 32 bytes';

/** Subscriptions of GraphiQL, each with what its first event has. */
const WAITING: Readonly<Record<string, readonly [operation: string, event: RegExp]>> = {
  'a compacted topic, a claim and filters': [
    `subscription A { changed(id: "o'1", above: 5, tag: "x", not: OPEN) { id tenant total tags state price { cents } } }`,
    /"id": "o'1",\s*"tenant": "hansé",\s*"total": 6,\s*"tags": \[\s*"x"\s*\],\s*"state": "CLOSED",\s*"price": \{\s*"cents": 1/,
  ],
  'change records of a topic that an argument chooses': [
    'subscription B { row(region: US) { id note } }',
    /"id": "1",\s*"note": null/,
  ],
  'a key and a header': [`subscription C { keyed(id: "a|b", region: EU) { id } }`, /"keyed": \{\s*"id": "1"/],
  'a key with each separator, a quote and spaces': [
    `subscription F { keyed(id: "a  |#~=>|1|'|", region: EU) { id } }`,
    /"keyed": \{\s*"id": "1"/,
  ],
  'a value with a line break and a tab': [
    String.raw`subscription G { changed(id: "a\n\tb") { id } }`,
    /"id": "a\\n\\tb"/,
  ],
  'a member of a key': ['subscription D { member(id: 7) { id } }', /"member": \{\s*"id": "1"/],
};

/** Subscriptions whose record no line of the command can have. */
const UNWRITABLE = [
  String.raw`subscription K { keyed(id: "a\nb", region: EU) { id } }`,
  String.raw`subscription L { keyed(id: "a\tb", region: EU) { id } }`,
  'subscription M { keyed(id: " ", region: EU) { id } }',
  'subscription N { keyed(id: "{ }", region: EU) { id } }',
  'subscription O { noted(id: "1", note: " a") { id } }',
  String.raw`subscription P { noted(id: "1", note: "a\nb") { id } }`,
  String.raw`subscription Q { typing(room: "a\nb") { id } }`,
];

describe('the command that GraphiQL shows while it waits', { timeout: 240_000 }, () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  it('writes a record that the subscriber receives, run as it stands', async (t) => {
    const name = randomName('hint');
    const configEntries = [{ name: 'cleanup.policy', value: 'compact' }];
    const topics = ['orders', 'rows-EU', 'rows-US', 'keyed', 'members'].map((topic) => `${name}-${topic}`);
    await createTopics(
      outside.brokers,
      topics.map((topic) => ({ topic, numPartitions: 1, configEntries })),
    );
    const pod = await startPod(t, {
      GRAPH: await graphFolder(t, {
        'schema.graphql': `
          type Subscription {
            changed(id: ID!, above: Float, tag: String, not: State): Order
              @kafka(
                topic: "${name}-orders", payload: "order", match: [{ arg: "id", path: "order.id" }], state: {}
                where: [
                  { claim: "tenant", path: "order.tenant" }, { arg: "above", path: "order.total", op: GT }
                  { arg: "tag", path: "order.tags", op: CONTAINS }, { arg: "not", path: "order.state", op: NE }
                ]
              )
            row(region: Region): Row @kafka(topic: "${name}-rows-{region}", envelope: DEBEZIUM, tombstone: NULL)
            keyed(id: ID!, region: Region!): Row
              @kafka(topic: "${name}-keyed", match: [{ arg: "id", key: true }, { arg: "region", header: "ce_region" }])
            noted(id: ID!, note: String!): Row
              @kafka(topic: "${name}-keyed", match: [{ arg: "id", key: true }, { arg: "note", header: "note" }])
            typing(room: ID!): Row @redis(channel: "typing.{room}")
            member(id: Int!): Row @kafka(topic: "${name}-members", match: [{ arg: "id", key: "row.id" }])
          }
          enum State { OPEN CLOSED }
          enum Region { EU US }
          type Order { id: ID! tenant: ID total: Float tags: [String!] state: State price: Price! }
          type Price { cents: Int! }
          type Row { id: ID! note: String }
        `,
      }),
      KAFKA_BROKERS: outside.brokers,
      KAFKA_GROUP_ID: name,
      KAFKA_DEAD_LETTER_TOPIC: `${name}-dead`,
      REDIS_URL: (await redisServer(t)).url,
      CHANNEL_PREFIX: `${name}:`,
      JWT_SECRET: SECRET,
      JWT_AUDIENCE: 'crier',
    });
    const claims = { tenant: 'hansé', exp: fromNow(3600) };
    const token = await signWith(new TextEncoder().encode(SECRET), claims, { alg: 'HS256' });
    const graphiql = await openGraphiql(t, pod.endpoint.replace('/graphql', '/'));
    await graphiql.typeHeaders(JSON.stringify({ token }));
    for (const [what, [operation, event]] of Object.entries(WAITING)) {
      await graphiql.type(operation);
      await graphiql.pressRun();
      const shown = await waitFor(
        what,
        async () =>
          (await graphiql.status()).includes('waiting') ? graphiql.page.locator('#status code').innerText() : '',
        PATIENCE_MS,
      );
      // Its subscription may not be at the gateway's bus yet.
      await waitFor(
        `the channels of ${what}`,
        async () => (await pod.metric('crier_subscriptions')) === 1,
        PATIENCE_MS,
      );
      const { stderr } = await promisify(execFile)('sh', ['-c', shown], {
        env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
      });
      assert.equal(stderr, 'written: 1\n', shown);
      assert.match(await graphiql.waitForEvent((text) => event.test(text), PATIENCE_MS), event);
      await graphiql.pressRun();
      await waitFor('the end', async () => !(await graphiql.isRunning()));
    }
    for (const operation of UNWRITABLE) {
      await graphiql.type(operation);
      await graphiql.pressRun();
      const status = await waitFor(
        operation,
        async () => /waiting for an event\..*/s.exec(await graphiql.status())?.[0],
        PATIENCE_MS,
      );
      assert.match(
        status,
        /(?:Write a record there that matches the arguments|there with the fields that you select)\.$/,
      );
      await graphiql.pressRun();
      await waitFor('the end', async () => !(await graphiql.isRunning()));
    }
  });
});
