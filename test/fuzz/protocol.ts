import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { createLog } from '../../src/base/log.ts';
import { startServer } from '../../src/server.ts';
import { fromNow, signWith } from '../gateway/identity/identity-provider.ts';
import { clientFrame } from '../../src/tools/conformance/client-frame.ts';
import { openSocket } from '../support/socket.ts';
import type { Socket } from '../support/socket.ts';
import { testConfig } from '../support/switches.ts';
import type { FuzzKind } from './kind.ts';

/** Codes of docs/reference/errors.md, and of RFC 6455 for invalid frames (1002), invalid UTF-8 (1007) and a close frame of the client. */
const CODES = [1000, 1001, 1002, 1005, 1007, 1008, 1009, 1013, 4400, 4401, 4403, 4408, 4409, 4429];

const SECRET = 'x'.repeat(32);
const [TOKEN, EXPIRED] = await Promise.all(
  [fromNow(36_000), fromNow(-36_000)].map((exp) => signWith(Buffer.from(SECRET), { exp }, { alg: 'HS256' })),
);

/** A connection that is still open after this time waits for the rest of a frame. */
const UNFINISHED_MS = 500;

const id = fc.constantFrom('a', 'b', '', 'é', 'x'.repeat(200));
/** With and without a text, and ids in both places. */
const documentId = fc.record(
  {
    query: fc.constantFrom('', null, '{ __typename }', 1, { kind: 'Document' }),
    documentId: fc.constantFrom('x', '', 'sha256:', '__proto__', 1, null, {}),
    extensions: fc.oneof(
      fc.constantFrom('x', '', '__proto__', 1, null, []).map((sha256Hash) => ({ persistedQuery: { sha256Hash } })),
      fc.constantFrom<unknown[]>(null, 1, [], { persistedQuery: 'x' }, { persistedQuery: null }),
    ),
  },
  { requiredKeys: [] },
);
/** Of a ping or connection_init. The first token is accepted. */
const token = fc.constantFrom<unknown[]>(
  TOKEN,
  `Bearer ${TOKEN}`,
  EXPIRED,
  'Bearer ',
  'x',
  '',
  'a.b.c',
  null,
  1,
  {},
  [],
);
const NAMES = ['token', 'authorization', 'Authorization'];
const identity = fc.record(Object.fromEntries(NAMES.map((name) => [name, token])), { requiredKeys: [] });
const payload = fc.oneof(
  fc
    .constantFrom('{ __typename }', '{', 'subscription { nothing }', '{ a: __typename b: __typename }')
    .map((query) => ({ query })),
  documentId,
  identity,
  fc.jsonValue({ maxDepth: 2 }),
);
const type = fc.constantFrom('connection_init', 'ping', 'pong', 'subscribe', 'complete', 'next', 'toString');
const message = fc
  .record({ type, id, payload }, { requiredKeys: ['type'] })
  .map((fields) => Buffer.from(JSON.stringify(fields)));
const credentials = fc
  .tuple(fc.constantFrom('connection_init', 'ping'), identity)
  .map(([type, payload]) => Buffer.from(JSON.stringify({ type, payload })));
const bytes = fc.uint8Array({ maxLength: 60 }).map((some) => Buffer.from(some));
const init = fc.constant(Buffer.from('{"type":"connection_init"}'));
const text = fc.oneof({ weight: 6, arbitrary: message }, { weight: 2, arbitrary: init }, credentials, bytes);
const mutated = fc.tuple(text, fc.nat(), fc.nat(255)).map(([whole, at, byte]) => {
  const copy = Buffer.from(whole);
  if (copy.length > 0) copy[at % copy.length] = byte;
  return copy;
});
const frame = fc
  .tuple(
    fc.oneof(text, mutated),
    fc.record(
      {
        opcode: fc.constantFrom(0x0, 0x1, 0x1, 0x1, 0x1, 0x2, 0x8, 0x9, 0xa, 0xb),
        isFinal: fc.constantFrom(true, true, true, false),
        reserved: fc.constantFrom(0, 0, 0, 0, 1, 4),
        isMasked: fc.constantFrom(true, true, true, true, false),
      },
      { requiredKeys: [] },
    ),
  )
  .map(([body, options]) => clientFrame(body, options));
/** Bytes for one connection: mostly frames, sometimes bytes that are not frames. */
const writes = fc.array(
  fc.oneof({ weight: 3, arbitrary: text.map((body) => clientFrame(body)) }, { weight: 3, arbitrary: frame }, bytes),
  {
    minLength: 1,
    maxLength: 8,
  },
);

/**
 * Any bytes on a connection: it stays open or is closed with a documented code, answers only ids that it received, and other
 * connections are served. No pong or error repeats a token.
 */
export const protocol: FuzzKind = {
  shortRuns: 150,
  property: async (scope) => {
    const config = testConfig({
      HOST: '127.0.0.1',
      PORT: '0',
      ADMIN_PORT: '0',
      LOG_LEVEL: 'silent',
      APQ: 'true',
      AUTH: 'optional',
      JWT_SECRET: SECRET,
      MAX_MESSAGES_PER_SECOND: '100000',
      MAX_HANDSHAKES_PER_SECOND: '0',
    });
    const failures: unknown[] = [];
    const server = await startServer(config, createLog('silent'), { onFatal: (error) => failures.push(error) });
    scope.after(() => server.close());
    const url = `ws://127.0.0.1:${server.port}/graphql`;
    const other = await openSocket(scope, url);
    await other.init();
    return fc.asyncProperty(writes, fc.boolean(), async (parts, isInitiated) => {
      const ends: (() => void | Promise<void>)[] = [];
      const socket = await openSocket({ after: (end) => void ends.push(end) }, url);
      try {
        if (isInitiated) await socket.init();
        const sent = Buffer.concat(parts);
        socket.write(sent);
        const answers = await outcome(socket, sent);
        for (const { id: answered, payload: told } of answers) {
          for (const name of NAMES) assert.ok(!Object.hasOwn(Object(told) as object, name), `${name} was repeated`);
          if (answered !== undefined) assert.ok(sent.includes(JSON.stringify(answered).slice(1, -1)), `id ${answered}`);
        }
      } finally {
        for (const end of ends) await end();
      }
      other.subscribe('mine', '{ __typename }');
      const mine = await other.take(2);
      assert.deepEqual(
        mine.map((each) => [each.id, each.type]),
        [
          ['mine', 'next'],
          ['mine', 'complete'],
        ],
      );
      assert.deepEqual(failures, []);
    });
  },
};

/** Messages received until the connection was closed, or until UNFINISHED_MS if it waits for the rest of a frame. */
async function outcome(socket: Socket, sent: Buffer) {
  // Sent after the input, so the server answers it once it has read the input.
  socket.close(1000);
  const closing = await Promise.race([socket.expectClose().catch(() => undefined), delay(UNFINISHED_MS)]);
  // A close frame of the client is answered with its own code.
  if (closing)
    assert.ok(CODES.includes(closing.code) || sent.includes(bytesOf(closing.code)), `closed with ${closing.code}`);
  return socket.unread;
}

/** A close code as a frame has it. */
function bytesOf(code: number): Buffer {
  return Buffer.from([code >> 8, code & 0xff]);
}
