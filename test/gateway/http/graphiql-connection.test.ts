import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { buildSchema } from 'graphql';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';
import { createGraphiql } from '../../../src/gateway/http/graphiql.ts';
import { freePorts } from '../../../stack/port.ts';
import { startPod } from '../../end-to-end/pod-server.ts';
import { graphFolder } from '../../graph/support/graph-folder.ts';
import { withOutside } from '../../kafka/consumer-harness.ts';
import type { Outside } from '../../kafka/consumer-harness.ts';
import { fitsWidth, screenshot } from '../../support/browser.ts';
import { randomName, redisServer } from '../../support/services.ts';
import { waitFor } from '../../support/wait-for.ts';
import { openGraphiql } from './graphiql-page.ts';
import type { GraphiqlPage } from './graphiql-page.ts';

const PATIENCE_MS = 60_000;

/** Numbers of the events whose messages have reached the page, over all of its sockets. */
function receivedNumbers({ page }: GraphiqlPage): number[] {
  const numbers: number[] = [];
  page.on('websocket', (socket) =>
    socket.on('framereceived', ({ payload }) => {
      const [, seq] = /"counted":\{"seq":(\d+)\}/.exec(String(payload)) ?? [];
      if (seq !== undefined) numbers.push(Number(seq));
    }),
  );
  return numbers;
}

const statusOf = (graphiql: GraphiqlPage, pattern: RegExp) =>
  waitFor(
    String(pattern),
    async () => {
      const status = await graphiql.status();
      return pattern.test(status) ? status : undefined;
    },
    PATIENCE_MS,
  );

describe('GraphiQL of a pod that restarts', { timeout: 240_000 }, () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  it('says how to publish the first event, reconnects, and shows each event once', async (t) => {
    const topic = await outside.createTopic(undefined, 1);
    const name = randomName('page');
    const [port] = await freePorts(1);
    const settings = {
      PORT: String(port),
      GRAPH: await graphFolder(t, {
        'schema.graphql': `
          type Subscription {
            counted(key: ID!): Counted @kafka(topic: "${topic}", match: [{ arg: "key", path: "key" }], history: {})
          }
          type Counted { key: ID seq: Int }
        `,
      }),
      KAFKA_BROKERS: outside.brokers,
      KAFKA_GROUP_ID: name,
      KAFKA_DEAD_LETTER_TOPIC: `${name}-dead`,
      REDIS_URL: (await redisServer(t)).url,
      CHANNEL_PREFIX: `${name}:`,
    };
    const pod = await startPod(t, settings);
    const graphiql = await openGraphiql(t, `http://127.0.0.1:${port}/`);
    const numbers = receivedNumbers(graphiql);
    await statusOf(graphiql, /^idle$/);
    await graphiql.type('subscription Counted { counted(key: "0") { seq } }');
    await graphiql.pressRun();
    assert.equal(
      await statusOf(graphiql, /waiting/),
      `live waiting for an event. It comes from the topic ${topic}. Publish one with this, and the fields that you select: ` +
        String.raw`printf '%s\n' '{"key":"0"}' | KAFKA_BROKERS=${outside.brokers} npx --no-install crier publish ${topic} --key key`,
    );
    await screenshot(graphiql.page, 'graphiql-waiting');
    await pod.counts('crier_channels', 1);
    await outside.sendSequences(topic, 1, 10);
    await statusOf(graphiql, /^live 10 events$/);

    await pod.stop();
    await statusOf(graphiql, /^reconnecting… the socket was closed: 1\d\d\d/);
    await screenshot(graphiql.page, 'graphiql-reconnecting');
    await outside.sendSequences(topic, 1, 20, 10);
    const next = await startPod(t, settings);
    await next.counts('crier_channels', 1);
    await outside.sendSequences(topic, 1, 5, 30);
    await statusOf(graphiql, /^live 35 events · resumed: no event was missed$/);
    assert.match(await graphiql.result(), /"seq": 34/);
    assert.deepEqual(
      numbers,
      Array.from({ length: 35 }, (_, i) => i),
    );
    assert.equal(await graphiql.isRunning(), true);
    await screenshot(graphiql.page, 'graphiql-resumed');
  });
});

/**
 * A server whose mutations are never answered, and which refuses the token `refused`.
 * @param events what is added to each result of `tick`
 */
async function silentServer(t: TestContext, events: readonly object[] = [{}]) {
  const schema = buildSchema(
    'type Query { a: Int } type Mutation { pay: Int } type Subscription { tick: Int @deprecated }',
  );
  const handleGraphiql = createGraphiql({
    operation: 'subscription Tick {\n  tick\n}\n',
    title: 'silent',
    sources: { fields: { tick: { resolver: true } }, records: 'nobody' },
    hasLive: false,
  });
  const server = createServer((request, response) => void handleGraphiql(request, response));
  let isAway = false;
  const sockets = new WebSocketServer({ server, path: '/graphql', verifyClient: () => !isAway });
  let payments = 0;
  async function* tick() {
    for (const [i] of events.entries()) yield { tick: i + 1 };
    await delay(PATIENCE_MS, undefined, { ref: false });
  }
  const roots = { mutation: { pay: () => new Promise(() => void payments++) }, subscription: { tick } };
  const graphql = useServer(
    {
      schema,
      roots,
      onConnect: ({ connectionParams }) => connectionParams?.['token'] !== 'refused',
      onNext: (_context, _id, _payload, _args, { data, errors }) =>
        errors ? undefined : { data: data ?? null, ...events[Number(data?.['tick']) - 1] },
    },
    sockets,
  );
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.after(async () => {
    for (const socket of sockets.clients) socket.terminate();
    await graphql.dispose();
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    payments: () => payments,
    cutSockets: () => sockets.clients.forEach((socket) => socket.terminate()),
    /** No socket can be opened meanwhile. */
    setAway: (away: boolean) => void (isAway = away),
  };
}

describe('GraphiQL whose connection is lost', () => {
  it('sends a mutation once, and says that nobody knows its outcome, without a stack', async (t) => {
    const server = await silentServer(t);
    const graphiql = await openGraphiql(t, server.url, 400);
    await graphiql.type('mutation Pay { pay }');
    await graphiql.pressRun();
    await waitFor('the mutation', () => server.payments() === 1);
    server.cutSockets();
    const result = await graphiql.waitForEvent((text) => text.includes('lost'));
    assert.match(result.replaceAll(/\s+/g, ' '), /may have been executed or not; it is not sent again/);
    assert.doesNotMatch(result, /stack|\bat /);
    await graphiql.type('subscription Tick { tick }');
    await graphiql.pressRun();
    await graphiql.waitForEvent((text) => text.includes('"tick": 1'));
    assert.equal(server.payments(), 1);
  });

  it('keeps a mutation that was not sent until there is a socket, and sends it once', async (t) => {
    const server = await silentServer(t);
    const graphiql = await openGraphiql(t, server.url);
    server.setAway(true);
    await graphiql.type('mutation Pay { pay }');
    await graphiql.pressRun();
    await statusOf(graphiql, /reconnecting… the socket was closed: 1006/);
    assert.doesNotMatch(await graphiql.result(), /may have been executed/);
    server.setAway(false);
    await waitFor('the mutation', () => server.payments() === 1, PATIENCE_MS);
    await statusOf(graphiql, /^live$/);
    assert.equal(await graphiql.isRunning(), true);
  });

  it('says of a mutation whose token is refused that it was, and not that it may have been executed', async (t) => {
    const server = await silentServer(t);
    const graphiql = await openGraphiql(t, server.url);
    await graphiql.typeHeaders('{ "token": "refused" }');
    await graphiql.type('mutation Pay { pay }');
    // The first one is the first with these headers, with which the schema is read, too: that says the same.
    for (let i = 0; i < 2; i++) {
      await graphiql.pressRun();
      await statusOf(graphiql, /^idle the socket was closed: 4403/);
      await waitFor('the end', async () => !(await graphiql.isRunning()));
    }
    const result = (await graphiql.result()).replaceAll(/\s+/g, ' ');
    assert.match(result, /4403 Forbidden; a token goes into the tab Headers/);
    assert.equal(server.payments(), 0);
  });
});

describe('GraphiQL whose Headers change', () => {
  it('ends the subscription that runs with an error once others are used', async (t) => {
    const server = await silentServer(t);
    const graphiql = await openGraphiql(t, server.url);
    await graphiql.pressRun();
    await graphiql.waitForEvent((text) => text.includes('"tick": 1'));
    await graphiql.typeHeaders('{ "token": "other" }');
    await graphiql.page.getByRole('button', { name: 'Re-fetch GraphQL schema' }).click();
    await graphiql.waitForEvent((text) => text.includes('The headers have changed'));
    assert.equal(await graphiql.isRunning(), false);
    await graphiql.pressRun();
    await graphiql.waitForEvent((text) => text.includes('"tick": 1'));
  });

  it('keeps a token out of the storage of the browser and out of the URL', async (t) => {
    const server = await silentServer(t);
    const graphiql = await openGraphiql(t, server.url);
    await graphiql.typeHeaders('{ "token": "secret-of-ida" }');
    const stored = () =>
      graphiql.page.evaluate<string>('JSON.stringify([sessionStorage, localStorage, location.href, document.cookie])');
    await graphiql.type('subscription Second { tick }');
    await graphiql.pressRun();
    await graphiql.waitForEvent((text) => text.includes('"tick": 1'));
    await waitFor('the history', async () => /graphiql:queries.+Second/.test(await stored()));
    await waitFor('the tabs', async () => /graphiql:tabState.+Second/.test(await stored()));
    assert.doesNotMatch(await stored(), /secret-of-ida/);
  });
});

describe('GraphiQL whose server notifies it of a gap', () => {
  it('says before which event events may have been missed, for as long as the subscription lives', async (t) => {
    const server = await silentServer(t, [{}, { extensions: { gap: true } }, {}]);
    const graphiql = await openGraphiql(t, server.url);
    await graphiql.pressRun();
    await statusOf(graphiql, /^live 3 events · events may have been missed before event 2$/);
  });
});

describe('GraphiQL in a window of 400 px', () => {
  it('shows the result below the operation, each as wide as the window', async (t) => {
    const { url } = await silentServer(t);
    const graphiql = await openGraphiql(t, url, 400);
    await graphiql.pressRun();
    await graphiql.waitForEvent((text) => text.includes('"tick": 1'));
    const boxOf = async (selector: string) => (await graphiql.page.locator(selector).boundingBox())!;
    // The list of events pushes both down when it appears.
    await waitFor('the layout', async () => {
      const [editor, response] = [await boxOf('.graphiql-query-editor'), await boxOf('.graphiql-response')];
      const isBelow = response.y >= editor.y + editor.height;
      return editor.width > 300 && response.width > 300 && isBelow && response.height > 150;
    });
    assert.equal(await fitsWidth(graphiql.page), true);
    await screenshot(graphiql.page, 'graphiql-400');
    await graphiql.page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    const documentation = await boxOf('.graphiql-doc-explorer');
    assert.ok(documentation.width > 280, String(documentation.width));
    await screenshot(graphiql.page, 'graphiql-400-schema');
  });
});
