import assert from 'node:assert/strict';
import { expectClose } from '../../../../src/tools/conformance/answers.ts';
import { handshake, TRANSPORT_WS } from '../../../support/socket.ts';
import type { ProbeRow } from './probe-stage.ts';

const OFFER = { 'sec-websocket-protocol': TRANSPORT_WS };

export const handshakeRows: readonly ProbeRow[] = [
  {
    id: 'X-09',
    level: 'REC',
    title: 'does not authenticate a client with an unknown sub-protocol',
    async run(stage) {
      const probe = stage.probe();
      const socket = await stage.open({ protocols: [], headers: { 'sec-websocket-protocol': 'foo' } });
      socket.send({ type: 'connection_init', payload: { token: probe.token } });
      await expectClose(socket, 4406);
      assert.equal(probe.authentications, 0);
    },
  },
  {
    id: 'X-08',
    level: 'REC',
    title: 'closes the sub-protocol of subscriptions-transport-ws with 4406 and a reason that a browser shows',
    async run(stage) {
      const probe = stage.probe();
      const { headers } = await handshake(stage.url, { 'sec-websocket-protocol': 'graphql-ws' });
      assert.equal(headers['sec-websocket-protocol'], 'graphql-ws');
      const socket = await stage.open({ protocols: ['graphql-ws'] });
      socket.send({ type: 'connection_init', payload: { token: probe.token } });
      assert.match((await expectClose(socket, 4406)).reason, /npm package graphql-ws.*graphql-transport-ws/);
      assert.equal(probe.authentications, 0);
    },
  },
  {
    id: 'X-01',
    level: 'REC',
    title: 'refuses a foreign Origin with 403 (compared exactly) before anything is authenticated (S-02)',
    settings: { ALLOWED_ORIGINS: 'https://app.example.com' },
    async run({ url }) {
      const foreign = [
        'https://evil.example',
        'https://app.example.com.evil.com',
        'https://evilapp.example.com',
        'http://app.example.com',
        'https://app.example.com:8443',
        'null',
      ];
      for (const origin of foreign) {
        assert.equal((await handshake(url, { ...OFFER, origin, cookie: 'session=1' })).status, 403, origin);
      }
    },
  },
  {
    id: 'X-02',
    level: 'REC',
    title: 'accepts an allowed Origin, its own, and a client without one',
    settings: { ALLOWED_ORIGINS: 'https://app.example.com' },
    async run({ url }) {
      const own = `http://${new URL(url).host}`;
      for (const origin of ['https://app.example.com', own]) {
        assert.equal((await handshake(url, { ...OFFER, origin })).status, 101, origin);
      }
      assert.equal((await handshake(url, OFFER)).status, 101);
    },
  },
  {
    id: 'X-03',
    level: 'REC',
    title: 'refuses an upgrade on any other path with 404 (S-07)',
    async run({ url }) {
      for (const path of ['/', '/graphql/x', '/healthz', '/metrics']) {
        assert.equal((await handshake(new URL(path, url).href, OFFER)).status, 404, path);
      }
    },
  },
  {
    id: 'X-04',
    level: 'REC',
    title: 'does not negotiate permessage-deflate unless COMPRESSION is on (S-27, S-28)',
    async run({ url }) {
      const { status, headers } = await handshake(url, {
        ...OFFER,
        'sec-websocket-extensions': 'permessage-deflate; client_max_window_bits',
      });
      assert.equal(status, 101);
      assert.equal(headers['sec-websocket-extensions'], undefined);
    },
  },
  {
    id: 'X-05',
    level: 'REC',
    title: 'refuses 2,000 request headers and stays up (S-06)',
    async run(stage) {
      const headers = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`x-header-${i}`, 'x']));
      const { status } = await handshake(stage.url, { ...OFFER, ...headers });
      assert.ok(status === 431 || status === 400, `status ${status}`);
      await stage.connect();
    },
  },
];
