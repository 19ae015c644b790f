import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { constants, deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { expectClose } from '../../../src/tools/conformance/answers.ts';
import { OPCODE, clientFrame } from '../../../src/tools/conformance/client-frame.ts';
import type { ClientFrameOptions } from '../../../src/tools/conformance/client-frame.ts';
import { collectGarbage } from '../../../src/ops/memory/collect-garbage.ts';
import { graphFolder } from '../../graph/support/graph-folder.ts';
import { openPage } from '../../support/browser.ts';
import { TRANSPORT_WS, handshake, openSocket } from '../../support/socket.ts';
import type { Socket } from '../../support/socket.ts';
import { waitFor } from '../../support/wait-for.ts';
import { crier } from './crier.ts';
import { offers } from './compression-offers.ts';
import type { Target } from './target.ts';

const GRAPH = {
  'schema.graphql': `
    type Query { text(bytes: Int!): String echo(text: String): Int }
    type Subscription { texts(bytes: [Int!]!): String }
  `,
  'resolvers.js': `
    const textOf = (bytes) => 'abcdefghij'.repeat(Math.ceil(bytes / 10)).slice(0, bytes);
    export const Query = { text: (_, { bytes }) => textOf(bytes), echo: (_, { text }) => text.length };
    export const Subscription = {
      texts: { async *subscribe(_, { bytes }) { for (const each of bytes) yield { texts: textOf(each) }; } },
    };
  `,
};

const MIN_BYTES = 100;
/** The result of one connection is compressed from this size on. */
const MIN_OWN_BYTES = 8 * MIN_BYTES;
const BURST = 150;

const RSV1 = 4;

/** The payload of a compressed message (RFC 7692 section 7.2.1). */
function compressed(text: string | Buffer): Buffer {
  return deflateRawSync(text, { finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, -4);
}

const compressedFrame = (text: string | Buffer, options: ClientFrameOptions = {}) =>
  clientFrame(compressed(text), { reserved: RSV1, ...options });

/** A ping of this many bytes. */
const pingOf = (bytes: number) => JSON.stringify({ type: 'ping' }).padEnd(bytes);

const ends: (() => void | Promise<void>)[] = [];
let targets: { graph: string; on: Target; off: Target };

before(async () => {
  const folder = await graphFolder({ after: (end: () => void) => ends.push(end) }, GRAPH);
  // A browser's empty page has the origin `null`.
  const settings = {
    GRAPH: folder,
    ALLOWED_ORIGINS: '*',
    MAX_MESSAGE_BURST: String(BURST),
    COMPRESSION_MIN_BYTES: String(MIN_BYTES),
  };
  targets = {
    graph: folder,
    on: await crier.start({ ...settings, COMPRESSION: 'on' }),
    off: await crier.start(settings),
  };
});

after(async () => {
  await Promise.all([targets.on.close(), targets.off.close()]);
  for (const end of ends) await end();
});

async function connect(t: TestContext, target: Target = targets.on, isOfferingCompression = true): Promise<Socket> {
  const socket = await openSocket(t, target.url, { isOfferingCompression });
  await socket.init();
  return socket;
}

/** An initialised client: the bytes and the messages that it receives. */
async function tapped(t: TestContext, url: string, isOfferingCompression: boolean) {
  const chunks: Buffer[] = [];
  const texts: string[] = [];
  const socket = new WebSocket(url, TRANSPORT_WS, { perMessageDeflate: isOfferingCompression });
  t.after(() => socket.terminate());
  socket.once('upgrade', (response) => response.socket.on('data', (chunk: Buffer) => chunks.push(chunk)));
  await once(socket, 'open');
  socket.on('message', (data: Buffer) => texts.push(data.toString()));
  socket.send('{"type":"connection_init"}');
  await waitFor('connection_ack', () => texts.length === 1);
  return { socket, chunks, texts };
}

describe('an offer of permessage-deflate', () => {
  const answer = async (target: Target, offer: string) => {
    const headers = { 'sec-websocket-protocol': TRANSPORT_WS, 'sec-websocket-extensions': offer };
    const { status, headers: answered } = await handshake(target.url, headers);
    return [status, answered['sec-websocket-extensions']];
  };
  const AGREED = 'permessage-deflate; client_no_context_takeover';

  for (const [client, offer] of [
    ['Firefox', 'permessage-deflate'],
    ['Chromium', 'permessage-deflate; client_max_window_bits'],
    ['Go', 'permessage-deflate; server_no_context_takeover; client_no_context_takeover'],
    ['a client with other extensions', 'x-other; a=1, permessage-deflate'],
  ] as const) {
    it(`of ${client} is accepted without context of the client`, async () => {
      const [status, answered] = await answer(targets.on, offer);
      assert.equal(status, 101);
      const parameters = (text: unknown) => String(text).split('; ').sort();
      const ofServer = offer.includes('server_no') ? '; server_no_context_takeover' : '';
      assert.deepEqual(parameters(answered), parameters(AGREED + ofServer));
    });
  }

  it('with limits of the windows is accepted with these limits', async () => {
    const [, answered] = await answer(
      targets.on,
      'permessage-deflate; server_max_window_bits=12; client_max_window_bits=10',
    );
    assert.match(String(answered), /server_max_window_bits=12/);
    assert.match(String(answered), /client_max_window_bits=10/);
  });

  for (const offer of [
    'permessage-deflate; server_max_window_bits=11',
    'permessage-deflate; server_max_window_bits=7',
    'permessage-deflate; server_max_window_bits',
    'permessage-deflate; client_max_window_bits=16',
    'permessage-deflate; server_no_context_takeover=1',
    'permessage-deflate; server_no_context_takeover; server_no_context_takeover',
    'permessage-deflate; unknown',
    'permessage-deflate; ',
    'x-webkit-deflate-frame',
    ',',
  ]) {
    it(`that is declined leaves a connection without compression: ${offer}`, async () => {
      assert.deepEqual(await answer(targets.on, offer), [101, undefined]);
    });
  }

  it('is declined while COMPRESSION is off', async () => {
    assert.deepEqual(await answer(targets.off, 'permessage-deflate'), [101, undefined]);
  });

  it('of any form leads to a connection', async () => {
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(offers, async (offer) => {
        const [status, answered] = await answer(targets.on, offer);
        assert.equal(status, 101);
        if (answered === undefined) return;
        accepted++;
        for (const parameter of AGREED.split('; ')) assert.ok(String(answered).includes(parameter));
        const [, serverBits] = /server_max_window_bits=(\d+)/.exec(String(answered)) ?? [];
        assert.ok(serverBits === undefined || Number(serverBits) >= 12, `${offer}: ${String(answered)}`);
      }),
      { numRuns: 100 },
    );
    assert.ok(accepted > 10, `only ${accepted} offers were accepted`);
  });
});

describe('a connection with compression', () => {
  const SIZES = [0, 1, MIN_OWN_BYTES - 60, MIN_OWN_BYTES, 5000, 65_535, 65_536, 300_000];

  it('receives the messages of one without, of any size', async (t) => {
    const received = [];
    for (const [target, isOffering] of [
      [targets.off, false],
      [targets.on, false],
      [targets.on, true],
    ] as const) {
      const socket = await connect(t, target, isOffering);
      socket.subscribe('s', 'subscription ($bytes: [Int!]!) { texts(bytes: $bytes) }', { bytes: SIZES });
      const messages = await socket.take(SIZES.length + 1);
      for (const bytes of SIZES) {
        socket.subscribe('q', 'query ($bytes: Int!) { text(bytes: $bytes) }', { bytes });
        messages.push(...(await socket.take(2)));
      }
      socket.subscribe('bad', '{ nothing }');
      messages.push(await socket.next());
      received.push(messages);
    }
    for (const messages of received) assert.deepEqual(messages, received[0]);
  });

  it('receives in a browser what one without receives', async (t) => {
    const page = await openPage(t);
    const inPage = (url: string) =>
      page.evaluate(
        async ([address, protocol, sizes]) => {
          const socket = new WebSocket(address, protocol);
          const texts: string[] = [];
          const send = (message: object) => socket.send(JSON.stringify(message));
          const query = 'subscription ($bytes: [Int!]!) { texts(bytes: $bytes) }';
          await new Promise<void>((resolve, reject) => {
            socket.onopen = () => send({ type: 'connection_init' });
            socket.onclose = ({ code }) => reject(new Error(`closed with ${code}`));
            socket.onmessage = (event) => {
              const data = event.data as string;
              texts.push(data);
              const { type } = JSON.parse(data) as { type: string };
              if (type === 'connection_ack')
                send({ id: 's', type: 'subscribe', payload: { query, variables: { bytes: sizes } } });
              if (type === 'complete') resolve();
            };
          });
          const { extensions } = socket;
          return { texts, extensions };
        },
        [url, TRANSPORT_WS, SIZES] as const,
      );
    const [plain, agreed] = [await inPage(targets.off.url), await inPage(targets.on.url)];
    assert.equal(plain.extensions, '');
    assert.match(agreed.extensions, /^permessage-deflate/);
    assert.deepEqual(agreed.texts, plain.texts);
  });

  it('receives compressed frames from the threshold on, and one without receives none', async (t) => {
    for (const [isOffering, isCompressed] of [
      [true, true],
      [false, false],
    ]) {
      const { socket, chunks, texts } = await tapped(t, targets.on.url, isOffering!);
      const receive = async (bytes: number) => {
        chunks.length = texts.length = 0;
        const query = `{ text(bytes: ${bytes}) }`;
        socket.send(JSON.stringify({ id: 'q', type: 'subscribe', payload: { query } }));
        await waitFor('next and complete', () => texts.length === 2);
        return { text: texts.join('').length, first: chunks[0]![0], bytes: Buffer.concat(chunks).length };
      };
      const small = await receive(MIN_OWN_BYTES / 2);
      assert.deepEqual([small.first, small.bytes >= small.text], [0x81, true]);
      const large = await receive(5000);
      assert.deepEqual([large.first, large.bytes < large.text / 10], [isCompressed ? 0xc1 : 0x81, isCompressed]);
    }
  });
});

describe('a compressed message of a client', () => {
  const PING = JSON.stringify({ type: 'ping' });
  const pong = async (socket: Socket) => assert.deepEqual(await socket.next(), { type: 'pong' });

  it('is read, also in fragments with a ping frame between them, and beside others in one segment', async (t) => {
    const socket = await connect(t);
    socket.write(compressedFrame(PING));
    await pong(socket);
    const body = compressed(PING);
    socket.write(
      Buffer.concat([
        clientFrame(body.subarray(0, 5), { reserved: RSV1, isFinal: false }),
        clientFrame('', { opcode: OPCODE.ping }),
        clientFrame(body.subarray(5, 9), { opcode: OPCODE.continuation, isFinal: false }),
        clientFrame('', { opcode: OPCODE.continuation, isFinal: false }),
        clientFrame(body.subarray(9), { opcode: OPCODE.continuation }),
      ]),
    );
    await pong(socket);
    socket.write(Buffer.concat([compressedFrame(PING), clientFrame(PING), compressedFrame(PING), clientFrame(PING)]));
    for (let i = 0; i < 4; i++) await pong(socket);
  });

  it('may have stored blocks, several blocks, and an end of its stream (RFC 7692 section 7.2.3)', async (t) => {
    const socket = await connect(t);
    const stored = deflateRawSync(PING, { level: 0, finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, -4);
    const [first, second] = [PING.slice(0, 6), PING.slice(6)].map((part) =>
      deflateRawSync(part, { finishFlush: constants.Z_SYNC_FLUSH }),
    );
    const ended = Buffer.concat([deflateRawSync(PING), Buffer.from([0])]);
    for (const body of [stored, Buffer.concat([first!, second!]).subarray(0, -4), ended]) {
      socket.write(clientFrame(body, { reserved: RSV1 }));
      await pong(socket);
    }
  });

  for (const [what, frames, code] of [
    ['a compressed control frame', [clientFrame('', { opcode: OPCODE.ping, reserved: RSV1 })], 1002],
    [
      'RSV1 on a later fragment',
      [
        clientFrame(compressed(PING), { reserved: RSV1, isFinal: false }),
        clientFrame('', { opcode: OPCODE.continuation, reserved: RSV1 }),
      ],
      1002,
    ],
    ['another reserved bit', [clientFrame(compressed(PING), { reserved: RSV1 | 2 })], 1002],
    ['bytes that are not compressed', [clientFrame(Buffer.alloc(20, 0xff), { reserved: RSV1 })], 1007],
    ['a reference to bytes before the message', [clientFrame(Buffer.from([0x03, 0x02]), { reserved: RSV1 })], 1013],
    ['compressed bytes that are not UTF-8', [compressedFrame(Buffer.from([0xff, 0xfe, 0xff]))], 1007],
    ['a compressed binary message', [compressedFrame(PING, { opcode: OPCODE.binary })], 4400],
    ['a compressed message that is not JSON', [compressedFrame('no JSON')], 4400],
  ] as const) {
    it(`closes with ${code} at ${what}`, async (t) => {
      const headers = { 'user-agent': what };
      const socket = await openSocket(t, targets.on.url, { isOfferingCompression: true, headers });
      await socket.init();
      socket.write(Buffer.concat(frames));
      await expectClose(socket, code);
    });
  }

  it('closes with 1002 if compression was not negotiated', async (t) => {
    for (const [target, isOffering] of [
      [targets.on, false],
      [targets.off, true],
    ] as const) {
      const socket = await connect(t, target, isOffering);
      socket.write(compressedFrame(PING));
      await expectClose(socket, 1002);
    }
  });

  it('closes with 1009 past MAX_MESSAGE_BYTES of text, whole or in fragments, without the memory of that text (S-27)', async (t) => {
    const bomb = compressed(Buffer.alloc(48 * 1024 * 1024, ' '));
    assert.ok(bomb.length < 65_536, `${bomb.length} bytes`);
    const beforeBytes = process.memoryUsage().arrayBuffers;
    const whole = await connect(t);
    whole.write(clientFrame(bomb, { reserved: RSV1 }));
    await expectClose(whole, 1009);
    assert.ok(process.memoryUsage().arrayBuffers - beforeBytes < 8 * 1024 * 1024, 'the text was inflated');
    const half = bomb.length >> 1;
    const fragments = await connect(t);
    fragments.write(
      Buffer.concat([
        clientFrame(bomb.subarray(0, half), { reserved: RSV1, isFinal: false }),
        clientFrame(bomb.subarray(half), { opcode: OPCODE.continuation }),
      ]),
    );
    await expectClose(fragments, 1009);
    const edge = await connect(t);
    edge.write(compressedFrame(pingOf(65_536)));
    await pong(edge);
    edge.write(compressedFrame(pingOf(65_537)));
    await expectClose(edge, 1009);
  });

  it('is refused with TOO_MANY_REQUESTS if it subscribes and more text would wait than may, and the other operations go on', async (t) => {
    const socket = await connect(t);
    const ids = Array.from({ length: 200 }, (_, i) => `${i}`);
    const messageOf = (id: string) =>
      JSON.stringify({
        id,
        type: 'subscribe',
        payload: { query: '{ text(bytes: 1) }', extensions: { x: 'x'.repeat(8000) } },
      });
    socket.write(Buffer.concat(ids.map((id) => compressedFrame(messageOf(id)))));
    const outcomes = new Map<string, string>();
    while (outcomes.size < ids.length) {
      const { id, type, payload } = await socket.next();
      if (type === 'error') outcomes.set(id!, (payload as { extensions: { code: string } }[])[0]!.extensions.code);
      else if (type === 'complete') outcomes.set(id!, 'complete');
    }
    const count = (outcome: string) => [...outcomes.values()].filter((one) => one === outcome).length;
    assert.ok(count('complete') >= BURST / 2, `${count('complete')} answered`);
    assert.ok(count('TOO_MANY_REQUESTS') > 0);
    assert.equal(count('complete') + count('TOO_MANY_REQUESTS'), ids.length);
    assert.ok(socket.isOpen);
  });

  it('counts against the rate by its text: each started 4 KB are a message (S-27)', async (t) => {
    const frames = (count: number, bytes = 60_000) =>
      Buffer.concat(Array.from({ length: count }, () => compressedFrame(pingOf(bytes))));
    const few = await connect(t);
    few.write(frames(5));
    for (let i = 0; i < 5; i++) await pong(few);
    const many = await connect(t);
    many.write(frames(20));
    assert.equal((await many.expectClose()).code, 1008);
    const started = await connect(t);
    started.write(frames(200, 4_097));
    assert.equal((await started.expectClose()).code, 1008);
    // As many messages without compression are within the burst.
    const plain = await connect(t, targets.on, false);
    for (let i = 0; i < 20; i++) plain.send(pingOf(60_000));
    for (let i = 0; i < 20; i++) await pong(plain);
  });

  it('leaves no memory of zlib behind', async (t) => {
    const sockets: Socket[] = [];
    for (let i = 0; i < 50; i++) sockets.push(await connect(t));
    const zlibBytes = async () => {
      await collectGarbage();
      const { external, arrayBuffers } = process.memoryUsage();
      return external - arrayBuffers;
    };
    const beforeBytes = await zlibBytes();
    for (const socket of sockets) socket.write(compressedFrame(pingOf(40_000)));
    for (const socket of sockets) await pong(socket);
    const kept = (await zlibBytes()) - beforeBytes;
    // Without the cleanup each socket keeps its inflater.
    assert.ok(kept < sockets.length * 4096, `${kept} bytes`);
    for (const socket of sockets) socket.write(compressedFrame(PING));
    for (const socket of sockets) await pong(socket);
  });
});

/** A socket of a client that keeps its window, although it has agreed not to: Safari. */
class WindowKeeper extends WebSocket {
  constructor(url: string | URL, protocols?: string | string[]) {
    super(url, protocols, { perMessageDeflate: { threshold: 0 }, headers: { 'user-agent': 'Safari' } });
    const extensions = this as unknown as { readonly _extensions: Record<string, { params: object }> };
    this.once('open', () =>
      Object.assign(extensions._extensions['permessage-deflate']?.params ?? {}, { client_no_context_takeover: false }),
    );
  }
}

describe('a client that keeps its window against what it agreed', () => {
  it('is forgotten if it was not acknowledged: it could name the program and address of another', async (t) => {
    const headers = { 'user-agent': 'somebody else' };
    const socket = await openSocket(t, targets.on.url, { isOfferingCompression: true, headers });
    socket.write(clientFrame(Buffer.from([0x03, 0x02]), { reserved: RSV1 }));
    await expectClose(socket, 1013);
    const offering = { 'sec-websocket-protocol': TRANSPORT_WS, 'sec-websocket-extensions': 'permessage-deflate' };
    const { headers: answered } = await handshake(targets.on.url, { ...offering, ...headers });
    assert.match(String(answered['sec-websocket-extensions']), /^permessage-deflate/);
  });

  it('is closed once, with 1013, and comes back without compression', async (t) => {
    const target = await crier.start({ COMPRESSION: 'on', GRAPH: targets.graph });
    t.after(() => target.close());
    const closes: { readonly code: number; readonly reason: string }[] = [];
    const extensions: string[] = [];
    const client = createClient({
      url: target.url,
      webSocketImpl: WindowKeeper,
      retryAttempts: 3,
      retryWait: () => Promise.resolve(),
      on: {
        connected: (socket) => void extensions.push((socket as WebSocket).extensions),
        closed: (event) => void closes.push(event as (typeof closes)[number]),
      },
    });
    t.after(() => client.dispose());
    const results = [];
    const query = 'subscription { texts(bytes: [10, 2000]) }';
    for await (const { data } of client.iterate({ query })) results.push(data);
    assert.equal(results.length, 2);
    assert.deepEqual(extensions, ['permessage-deflate', '']);
    assert.deepEqual(
      closes.slice(0, 1).map(({ code, reason }) => [code, reason]),
      [
        [
          1013,
          'A message refers to an earlier one, against client_no_context_takeover: reconnect, without compression',
        ],
      ],
    );
    const offering = { 'sec-websocket-protocol': TRANSPORT_WS, 'sec-websocket-extensions': 'permessage-deflate' };
    for (const [userAgent, isAgreed] of [
      ['Safari', false],
      ['Firefox', true],
    ] as const) {
      const { headers } = await handshake(target.url, { ...offering, 'user-agent': userAgent });
      assert.equal(headers['sec-websocket-extensions'] !== undefined, isAgreed, userAgent);
    }
  });
});
