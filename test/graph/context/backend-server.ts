import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { BackendError } from '../../../src/graph/context/backend-error.ts';
import { Backends } from '../../../src/graph/context/backends.ts';
import type { BackendAnswer, BackendsOptions } from '../../../src/graph/context/backends.ts';
import type { BreakerState } from '../../../src/graph/context/backend-client/breaker.ts';
import type { BackendRequest } from '../../../src/graph/context/execution-backends.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export async function backendServer(t: TestContext, handler: Handler): Promise<string> {
  // Clients keep an idle connection for as long as this says; on a busy machine a reload takes longer than the default of 5 s.
  const server = createServer({ keepAliveTimeout: 60_000 }, handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A backend that accepts every request and answers none. */
export async function hungBackend(t: TestContext) {
  let requests = 0;
  const url = await backendServer(t, () => requests++);
  return { url, requests: () => requests };
}

export function backendsAt(
  t: TestContext,
  url: string,
  options: Partial<BackendsOptions> & { forwardedHeaders?: readonly string[] } = {},
) {
  const { forwardedHeaders = [], ...rest } = options;
  const answers: BackendAnswer[] = [];
  const retries: string[] = [];
  const breakerStates: BreakerState[] = [];
  const backends = new Backends({
    backends: new Map([['VENUE', { url, forwardedHeaders }]]),
    maxSockets: () => 5,
    timeoutMs: 10_000,
    observer: {
      onAnswer: (answer) => void answers.push(answer),
      onRetry: (_backend, outcome) => void retries.push(outcome),
      onBreaker: (_backend, state) => void breakerStates.push(state),
    },
    ...rest,
  });
  t.after(() => backends.close());
  const send = async (path: string, request: Partial<BackendRequest> = {}) => {
    const sent = { method: 'GET' as const, path, callerHeader: () => 'caller', ...request };
    return (await backends.send('venue', sent)).body;
  };
  return { backends, send, answers, retries, breakerStates };
}

/** What a client sees of the error is a code and nothing of the inside; a resolver also sees the backend's name and status. */
export async function failsWith(
  code: string,
  sending: Promise<unknown>,
  { status, ...extensions }: { status?: number; retryAfterMs?: number } = {},
): Promise<BackendError> {
  const error = await sending.then(
    () => assert.fail('it answered'),
    (failure: unknown) => failure,
  );
  assert.ok(error instanceof BackendError, String(error));
  assert.deepEqual([error.backend, error.status], ['venue', status]);
  assert.deepEqual({ ...error.extensions }, { ...extensions, code });
  assert.doesNotMatch(JSON.stringify(error), /venue|status|[45]\d\d|127\.0\.0\.1|http|secret|Bearer|ECONN| {4}at /);
  assert.equal(error.originalError, undefined);
  return error;
}
