import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { whenReplied } from '../../../src/gateway/http/reply-end.ts';
import { waitFor } from '../../support/wait-for.ts';

const GET = 'GET / HTTP/1.1\r\nHost: h\r\n\r\n';

/** A server that replies to no request, and a client of it that has sent `text`. */
async function exchange(t: TestContext, text: string, onRequest: (q: IncomingMessage, r: ServerResponse) => void) {
  const server = createServer(onRequest).listen(0, '127.0.0.1');
  t.after(() => server.close().closeAllConnections());
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  t.after(() => socket.destroy());
  socket.write(text);
  return socket;
}

describe('whenReplied', () => {
  it('is called once for each reply that was sent', async (t) => {
    let begun = 0;
    let ended = 0;
    await exchange(t, GET.repeat(20), (request, response) => {
      begun++;
      whenReplied(request, response, () => ended++);
      response.end();
    });
    await waitFor('the replies', () => ended === 20);
    assert.equal(begun, 20);
  });

  it('is called for each pipelined request when the socket is lost, also for replies that close never tells of', async (t) => {
    let begun = 0;
    let ended = 0;
    let told = 0;
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => void warnings.push(warning);
    process.on('warning', onWarning);
    t.after(() => process.off('warning', onWarning));
    const socket = await exchange(t, GET.repeat(20), (request, response) => {
      begun++;
      whenReplied(request, response, () => ended++);
      response.once('close', () => told++);
    });
    await waitFor('the requests', () => begun === 20);
    socket.destroy();
    await waitFor('the ends', () => ended === 20);
    // Node 24 tells of all.
    const isTold = Number.parseInt(process.versions.node) >= 24;
    assert.equal(told, isTold ? 20 : 1, 'without the listener of the socket the others would be in flight for ever');
    assert.deepEqual(warnings, []);
  });
});
