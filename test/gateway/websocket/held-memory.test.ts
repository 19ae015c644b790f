import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { collectGarbage } from '../../../src/ops/memory/collect-garbage.ts';
import { graphFolder } from '../../graph/support/graph-folder.ts';
import { openSocket } from '../../support/socket.ts';
import type { ProtocolMessage, Socket } from '../../support/socket.ts';
import { crier } from './crier.ts';

/** Enough different fields for a long document. Repeated fields would slow its validation, which compares them. */
const FIELDS = Array.from({ length: 200 }, (_, i) => `number_${i}`);

const GRAPH = {
  'schema.graphql': `
    type Query { hello: String }
    type Subscription {
      thing(id: ID!): Thing @kafka(topic: "things", match: [{ arg: "id", path: "id" }])
    }
    type Thing { id: ID text: String number: Int ${FIELDS.map((name) => `${name}: Int`).join(' ')} }
  `,
};

/** Otherwise shorter variables than here are refused. */
const LONG_VARIABLES = { MAX_VARIABLES_BYTES: '65536', MAX_CHANNEL_BYTES: '65536' };

const THING = 'subscription ($id: ID!) { thing(id: $id) { id text number } }';

async function startServer(t: TestContext, settings: Readonly<Record<string, string>>): Promise<string> {
  const target = await crier.start({
    GRAPH: await graphFolder(t, GRAPH),
    MAX_MESSAGE_BURST: '1000',
    ...LONG_VARIABLES,
    ...settings,
  });
  t.after(() => target.close());
  return target.url;
}

async function connect(t: TestContext, settings: Readonly<Record<string, string>> = {}): Promise<Socket> {
  const url = await startServer(t, settings);
  const socket = await openSocket(t, url);
  await socket.init();
  return socket;
}

/** Ids of the refused operations, after every operation sent before has been answered. */
async function refusedIds(socket: Socket): Promise<string[]> {
  const messages: ProtocolMessage[] = [];
  for (let quiet = 0; quiet < 5;) {
    const found = await socket.roundTrip();
    messages.push(...found);
    quiet = found.length === 0 ? quiet + 1 : 0;
  }
  return messages.map(({ type, id, payload }) => {
    assert.equal(type, 'error');
    const [error] = payload as { message: string; extensions: { code: string } }[];
    assert.equal(error!.extensions.code, 'OPERATION_LIMIT');
    assert.match(
      error!.message,
      /1048576 bytes .*\(4 times MAX_MESSAGE_BYTES, or 10 KiB for each of MAX_OPERATIONS_PER_CONNECTION\)/,
    );
    return id!;
  });
}

describe('what the operations of a connection keep in memory', () => {
  it('has room for 100 ordinary operations with different documents', async (t) => {
    const socket = await connect(t);
    for (let i = 0; i < 100; i++) {
      const fields = 'id text number '.repeat(1 + (i % 10));
      socket.subscribe(`${i}`, `subscription Watch${i} { thing(id: "${i}") { ${fields} } }`);
    }
    assert.deepEqual(await refusedIds(socket), []);
  });

  it('has room for 20 operations with different compiled documents of 85 fields', async (t) => {
    const socket = await connect(t);
    for (let i = 0; i < 20; i++) {
      socket.subscribe(`${i}`, `subscription Watch${i} { thing(id: "${i}") { ${FIELDS.slice(0, 85).join(' ')} } }`);
    }
    assert.deepEqual(await refusedIds(socket), []);
  });

  it('is bounded if channel names and variables are long, and has room again after a complete', async (t) => {
    const socket = await connect(t);
    const id = (i: number) => `${i}`.padEnd(60_000, 'x');
    for (let i = 0; i < 100; i++) socket.subscribe(`${i}`, THING, { id: id(i) });
    const refused = await refusedIds(socket);
    assert.ok(refused.length >= 95 && refused.length < 100, `${refused.length} refused`);
    assert.ok(!refused.includes('0'));
    socket.complete('0');
    socket.subscribe('again', THING, { id: id(0) });
    socket.subscribe('one too many', THING, { id: id(1) });
    assert.deepEqual(await refusedIds(socket), ['one too many']);
  });

  it('is bounded if each operation has a different long document', async (t) => {
    const socket = await connect(t);
    for (let i = 0; i < 100; i++) {
      socket.subscribe(`${i}`, `subscription Watch${i} { thing(id: "${i}") { ${FIELDS.join(' ')} } }`);
    }
    const refused = await refusedIds(socket);
    assert.ok(refused.length >= 85 && refused.length < 95, `${refused.length} refused`);
  });

  it('counts a document that many operations share once', async (t) => {
    const socket = await connect(t);
    const query = `subscription ($id: ID!) { thing(id: $id) { ${FIELDS.join(' ')} } }`;
    socket.subscribe('first', query, { id: 'first' });
    await socket.roundTrip();
    for (let i = 1; i < 100; i++) socket.subscribe(`${i}`, query, { id: `${i}` });
    assert.deepEqual(await refusedIds(socket), []);
  });

  for (const [what, settings, refused] of [
    ['no document is cached', { DISABLE: 'document-cache' }, 85],
    ['no document is cached and nodes keep their locations', { DISABLE: 'document-cache,compact-ast' }, 93],
  ] as const) {
    it(`is bounded if each operation has one long document and ${what}`, async (t) => {
      const socket = await connect(t, settings);
      const query = `subscription ($id: ID!) { thing(id: $id) { ${FIELDS.join(' ')} } }`;
      for (let i = 0; i < 100; i++) socket.subscribe(`${i}`, query, { id: `${i}` });
      const { length } = await refusedIds(socket);
      assert.ok(length >= refused && length < 100, `${length} refused`);
    });
  }
});

/** Heap and buffers that one connection adds to the server and its client with 100 operations whose ids have 60,000 characters. */
async function bytesPerConnection(t: TestContext, settings: Readonly<Record<string, string>>): Promise<number> {
  const sockets = 4;
  const url = await startServer(t, settings);
  const open = async (name: number) => {
    const socket = await openSocket(t, url);
    await socket.init();
    for (let i = 0; i < 100; i++) socket.subscribe(`${i}`, THING, { id: `${name} ${i}`.padEnd(60_000, 'x') });
    for (let quiet = 0; quiet < 5;) quiet = (await socket.roundTrip()).length === 0 ? quiet + 1 : 0;
  };
  const kept = async () => {
    await collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  await open(-1);
  const before = await kept();
  for (let socket = 0; socket < sockets; socket++) await open(socket);
  return ((await kept()) - before) / sockets;
}

describe('a connection with 100 operations whose variables are long', () => {
  const MB = 1024 * 1024;

  it('takes 1 MB at most', { timeout: 60_000 }, async (t) => {
    const bytes = await bytesPerConnection(t, {});
    assert.ok(bytes < MB, `${bytes} bytes`);
  });

  it('takes over 10 MB without MAX_CONNECTION_BYTES (twin)', { timeout: 60_000 }, async (t) => {
    const bytes = await bytesPerConnection(t, { MAX_CONNECTION_BYTES: String(1024 * MB) });
    assert.ok(bytes > 10 * MB, `${bytes} bytes`);
  });
});
