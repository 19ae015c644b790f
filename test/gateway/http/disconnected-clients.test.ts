import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { buildSchema, parse } from 'graphql';
import type { ExecutionResult } from 'graphql';
import { TrustedProxies } from '../../../src/config/addresses/client-address.ts';
import { Endpoint } from '../../../src/gateway/http/endpoint.ts';
import type { EndpointOptions } from '../../../src/gateway/http/endpoint.ts';
import { RequestAdmission } from '../../../src/gateway/http/request-admission.ts';
import { Authenticator } from '../../../src/gateway/identity/authenticator.ts';
import { createLog } from '../../../src/base/log.ts';
import { waitFor } from '../../support/wait-for.ts';
import { NO_ROUTERS } from '../connections/no-routers.ts';

const UNLIMITED = { maxInFlight: 0, maxPerSecond: 0 };
const POST = `POST /graphql HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 21\r\n\r\n{"query":"{ hello }"}`;

interface Stage {
  /** A document that is not prepared waits for ever. */
  readonly isPrepared?: boolean;
  readonly executionTimeoutMs?: number;
}

/** An endpoint whose executions end when they are told to, and a client that has sent it a query. */
async function stage(t: TestContext, { isPrepared = true, executionTimeoutMs = 60_000 }: Stage = {}) {
  const log = createLog('silent');
  const admission = new RequestAdmission(
    { maxInFlight: 0, maxInFlightWithoutUser: 0, user: UNLIMITED, address: UNLIMITED },
    () => false,
  );
  const operation = { type: 'query', document: parse('{ hello }') };
  const executions: ((result: ExecutionResult) => void)[] = [];
  const queued: { cancel: () => void }[] = [];
  let cancelled = 0;
  const endpoint = new Endpoint({
    runtime: {
      schema: buildSchema('type Query { hello: String }'),
      findPrepared: () => (isPrepared ? operation : undefined),
      execute: () => new Promise<ExecutionResult>((resolve) => executions.push(resolve)),
    } as unknown as EndpointOptions['runtime'],
    documents: {
      add: () => {
        const work = { done: new Promise(() => undefined), cancel: () => void cancelled++ };
        queued.push(work);
        return work;
      },
    } as unknown as EndpointOptions['documents'],
    authenticator: new Authenticator({ tokens: undefined, timeoutMs: 5000, log, onFailure: () => undefined }),
    admission,
    origins: { allowed: [], own: '' },
    routers: NO_ROUTERS,
    proxies: new TrustedProxies([]),
    maxBodyBytes: 1024,
    executionTimeoutMs,
    log,
    callbacks: { open: () => assert.fail('no router') },
    streams: {
      requestOf: () => undefined,
      refusalAt: () => undefined,
      open: () => assert.fail(),
      ofOne: () => assert.fail(),
    },
    onRefused: () => undefined,
    refusedOrigins: { report: () => undefined },
  });
  const server = createServer((request, response) => void endpoint.receive(request, response));
  t.after(() => server.close().closeAllConnections());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
  t.after(() => client.destroy());
  client.write(POST);
  const [socket] = await accepted;
  const disconnect = async () => {
    const closed = new Promise((resolve) => socket.once('close', resolve));
    client.resetAndDestroy();
    await closed;
  };
  return { admission, executions, queued, disconnect, cancelled: () => cancelled };
}

describe('a request whose client has disconnected', () => {
  it('counts until its execution ends', async (t) => {
    const { admission, executions, disconnect } = await stage(t);
    await waitFor('its execution', () => executions.length === 1);
    await disconnect();
    assert.equal(admission.inFlight, 1);
    executions[0]!({ data: { hello: 'world' } });
    await waitFor('its end', () => admission.inFlight === 0);
  });

  it('counts no longer than EXECUTION_TIMEOUT_MS if its execution never ends', async (t) => {
    const { admission, executions, disconnect } = await stage(t, { executionTimeoutMs: 1 });
    await waitFor('its execution', () => executions.length === 1);
    assert.equal(admission.inFlight, 1);
    await disconnect();
    await waitFor('its end', () => admission.inFlight === 0);
  });

  it('is not executed, and ends, if its document still waits', async (t) => {
    const { admission, executions, queued, disconnect, cancelled } = await stage(t, { isPrepared: false });
    await waitFor('its document', () => queued.length === 1);
    await disconnect();
    await waitFor('its end', () => admission.inFlight === 0);
    assert.equal(cancelled(), 1);
    assert.equal(executions.length, 0);
  });
});
