import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { probeListener } from '../../../../src/kafka/client/access/listener.ts';

const CORRELATION_ID = 1;

/** A server on 127.0.0.1 that replies to the first bytes of each connection, and closes it. */
async function startListener(t: TestContext, reply: Buffer) {
  /** The first bytes of each connection. */
  const received: Buffer[] = [];
  const server = createServer((socket) =>
    socket
      .on('error', () => undefined)
      .once('data', (bytes) => {
        received.push(bytes);
        socket.end(reply);
      }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { port: (server.address() as AddressInfo).port, received };
}

/** A reply to SaslHandshake with these mechanisms, and with this count of bytes after the length. */
function replyOf(mechanisms: readonly Buffer[], size?: number): Buffer {
  const body = Buffer.concat([Buffer.alloc(10), ...mechanisms]);
  body.writeInt32BE(CORRELATION_ID, 0);
  body.writeInt16BE(33, 4);
  body.writeInt32BE(mechanisms.length, 6);
  const length = Buffer.alloc(4);
  length.writeInt32BE(size ?? body.length);
  return Buffer.concat([length, body]);
}

/** A string of Kafka's protocol with this length before it. */
function stringOf(text: string, length = text.length): Buffer {
  const bytes = Buffer.from(`..${text}`);
  bytes.writeInt16BE(length);
  return bytes;
}

describe('probeListener', () => {
  const plain = stringOf('PLAIN');
  const replies: readonly (readonly [what: string, reply: Buffer, mechanisms: readonly string[] | undefined])[] = [
    ['two mechanisms', replyOf([plain, stringOf('GSSAPI')]), ['PLAIN', 'GSSAPI']],
    ['no mechanism', replyOf([]), []],
    ['a mechanism of length -1', replyOf([plain, stringOf('', -1)]), ['PLAIN']],
    ['a mechanism of length -2', replyOf([plain, stringOf('', -2)]), ['PLAIN']],
    ['a mechanism of length -32768', replyOf([plain, stringOf('', -32_768)]), ['PLAIN']],
    ['a mechanism that is longer than the reply', replyOf([stringOf('PLAIN', 32_767)]), ['PLAIN']],
    ['a reply of negative length', replyOf([plain], -8), undefined],
    ['a reply that is too short', replyOf([plain], 9), undefined],
    ['a reply that is too long', replyOf([plain], 2 ** 31 - 1), undefined],
    ['a reply that ends early', replyOf([plain], 100), undefined],
    ['text', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), undefined],
  ];
  for (const [what, reply, mechanisms] of replies) {
    it(`reads ${what}`, async (t) => {
      const { port } = await startListener(t, reply);
      assert.deepEqual(await probeListener('127.0.0.1', port), mechanisms && { isTls: false, mechanisms });
    });
  }

  it('names the host in the TLS handshake, and no IP address', async (t) => {
    for (const [host, isNamed] of [
      ['localhost', true],
      ['127.0.0.1', false],
    ] as const) {
      const { port, received } = await startListener(t, Buffer.from('no reply of a broker'));
      assert.equal(await probeListener(host, port), undefined);
      assert.equal(received.length, 2);
      assert.equal(received[1]!.includes(host), isNamed, host);
    }
  });
});
