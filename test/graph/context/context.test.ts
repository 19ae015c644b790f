import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { OperationDefinitionNode } from 'graphql';
import { createFacts, createRequest } from '../../../src/graph/context/connection-facts.ts';
import type { ContextDefinition } from '../../../src/graph/context/context.ts';
import { beginRepeat, createContext, nodesOf, readsOf, settleRequests } from '../../../src/graph/context/context.ts';
import type { ExecutionContext } from '../../../src/graph/context/context.ts';
import type { BackendPort, BackendRequest } from '../../../src/graph/context/execution-backends.ts';
import { agrees } from '../../support/agrees.ts';
import { replyOf } from './reply-of.ts';

function factsWith(claims: object, rawHeaders: string[] = [], params: object = {}) {
  return createFacts(createRequest({ id: 'c1', rawHeaders, params, address: '127.0.0.1' }), claims);
}

/** A definition that counts what is built of it, and a port that keeps what is sent. */
function counted() {
  const built = { loaders: 0, primers: 0 };
  const sent: { name: string; request: BackendRequest }[] = [];
  const port: BackendPort = {
    send: (name, request) => {
      sent.push({ name, request });
      return Promise.resolve(replyOf({ name }));
    },
  };
  const definition: ContextDefinition = {
    backends: ['uaa', 'venue'],
    createLoaders: () => {
      built.loaders++;
      return Proxy.lazy({ primers: Proxy.lazy({ number: ++built.primers }) });
    },
  };
  return { built, sent, port, definition };
}

describe('an execution context', () => {
  it('builds nothing when nothing is read', () => {
    const { built, sent, port, definition } = counted();
    const context = createContext(definition, port, factsWith({}));
    assert.deepEqual(built, { loaders: 0, primers: 0 });
    assert.equal(sent.length, 0);
    assert.equal(readsOf(context), undefined);
    assert.deepEqual(Reflect.ownKeys(context), []);
  });

  it('builds loaders and primers at their first read, once per execution (S-62)', () => {
    const { built, port, definition } = counted();
    const context = createContext(definition, port, factsWith({}));
    assert.equal(context.loaders, context.loaders);
    const { primers } = context.loaders as { primers: { number: number } };
    assert.deepEqual(Object.keys(primers), ['number']);
    assert.deepEqual(built, { loaders: 1, primers: 0 });
    assert.equal(primers.number, primers.number);
    assert.deepEqual(built, { loaders: 1, primers: 1 });
    const next = createContext(definition, port, factsWith({}));
    assert.notEqual(next.loaders, context.loaders);
    assert.equal(built.loaders, 2);
  });

  it('has loaders of its own, whatever the execution of another user has loaded (S-62)', () => {
    const definition: ContextDefinition = { createLoaders: () => ({ loaded: new Map<string, string>() }) };
    const loadedBy = (sub: string, shared = definition) =>
      (createContext(shared, counted().port, factsWith({ sub })).loaders as { loaded: Map<string, string> }).loaded;
    loadedBy('ida').set('secret', 'of ida');
    assert.equal(loadedBy('ben').size, 0);
    // Twin: a graph that returns the same loaders each time.
    const loaders = { loaded: new Map<string, string>() };
    const global: ContextDefinition = { createLoaders: () => loaders };
    loadedBy('ida', global).set('secret', 'of ida');
    assert.equal(loadedBy('ben', global).get('secret'), 'of ida');
  });

  it('builds loaders again after a failed attempt', () => {
    let attempts = 0;
    const createLoaders = () => {
      if (++attempts === 1) throw new Error('not now');
      return { ready: true };
    };
    const context = createContext({ createLoaders }, counted().port, factsWith({}));
    assert.throws(() => context.loaders, /not now/);
    assert.deepEqual(context.loaders, { ready: true });
  });

  it('has empty loaders if the graph defines none', () => {
    const context = createContext({}, counted().port, factsWith({}));
    assert.deepEqual({ ...context.loaders }, {});
  });

  it('creates a backend at the first read of its name, and each method at its first read', async () => {
    const { sent, port, definition } = counted();
    const context = createContext(definition, port, factsWith({}));
    const { backends } = context;
    assert.equal(context.backends, backends);
    assert.equal(backends['uaa'], backends['uaa']);
    assert.notEqual(backends['uaa'], backends['venue']);
    const { post, get } = backends['uaa']!;
    for (const method of ['get', 'post', 'put', 'patch', 'delete'] as const) {
      assert.equal(backends['uaa']![method], backends['uaa']![method]);
    }
    assert.deepEqual(await post('/tokens', { a: 1 }, { headers: { 'x-a': 'b' } }), { name: 'uaa' });
    await get('/me');
    await backends['venue']!.put('/1', null);
    await backends['venue']!.patch('/2', []);
    await backends['venue']!.delete('/3');
    assert.deepEqual(
      sent.map(({ name, request: { method, path, body, headers } }) => [name, method, path, body, headers]),
      [
        ['uaa', 'POST', '/tokens', '{"a":1}', { 'x-a': 'b' }],
        ['uaa', 'GET', '/me', undefined, undefined],
        ['venue', 'PUT', '/1', 'null', undefined],
        ['venue', 'PATCH', '/2', '[]', undefined],
        ['venue', 'DELETE', '/3', undefined, undefined],
      ],
    );
  });

  it('rejects a request whose body is no JSON', async () => {
    const { sent, port, definition } = counted();
    const { backends } = createContext(definition, port, factsWith({}));
    await assert.rejects(backends['uaa']!.post('/', 1n), TypeError);
    assert.equal(sent.length, 0);
  });

  it('sends no request again in a repeat, and gives it a copy of the reply', async () => {
    const { sent, port, definition } = counted();
    const context = createContext(definition, port, factsWith({}));
    const { get, post } = context.backends['uaa']!;
    const replies = [await get('/'), await get('/'), await post('/', { a: 1 })];
    beginRepeat(context);
    const again = [await get('/'), await get('/'), await post('/', { a: 1 })];
    assert.deepEqual(again, replies);
    assert.notEqual(again[0], replies[0]);
    assert.equal(sent.length, 3);
    await get('/');
    await post('/', { a: 2 });
    await post('/', { a: 1 }, { headers: { 'x-a': 'b' } });
    await context.backends['venue']!.get('/');
    assert.equal(sent.length, 7, 'a third one, another body, another header, another backend');
    assert.equal(settleRequests(context), 7);
  });

  it('keeps no reply after the execution has settled, nor for a source of events', async () => {
    for (const isSource of [false, true]) {
      const { sent, port, definition } = counted();
      const context = createContext(definition, port, factsWith({}));
      if (!isSource) void context.backends;
      assert.equal(settleRequests(context), 0);
      await context.backends['uaa']!.get('/');
      beginRepeat(context);
      await context.backends['uaa']!.get('/');
      assert.equal(sent.length, 2);
    }
  });

  it('throws TypeError at an unknown backend, with the one that may be meant', async () => {
    const { backends } = createContext(counted().definition, counted().port, factsWith({}));
    const message =
      'context.backends: there is no "vanue": context.ts exports the backends uaa, venue; did you mean "venue"?';
    assert.throws(() => backends['vanue'], { name: 'TypeError', message });
    assert.throws(() => backends['constructor'], /there is no "constructor": .*; add it there$/);
    assert.equal((backends as unknown as Record<symbol, unknown>)[Symbol.toPrimitive], undefined);
    assert.equal(await Promise.resolve(backends), backends);
    assert.equal(JSON.stringify(backends), '{}');
    assert.throws(
      () => createContext({}, counted().port, factsWith({})).backends['uaa'],
      /context\.ts exports no backends; add it there$/,
    );
  });

  it('has its own copies of the operation and of each list of field nodes, identical at each call', () => {
    const nodes = nodesOf(createContext({}, counted().port, factsWith({})))!;
    const shared = { operation: { kind: 'OperationDefinition' } as OperationDefinitionNode, fieldNodes: [] };
    assert.deepEqual([nodes.operation(shared.operation), nodes.fieldNodes(shared.fieldNodes)], Object.values(shared));
    for (const copyOf of [() => nodes.operation(shared.operation), () => nodes.fieldNodes(shared.fieldNodes)]) {
      assert.equal(copyOf(), copyOf());
    }
    assert.notEqual(nodes.operation(shared.operation), shared.operation);
    assert.notEqual(nodes.fieldNodes(shared.fieldNodes), shared.fieldNodes);
    assert.notEqual(nodes.fieldNodes([]), nodes.fieldNodes([]));
    const copy = nodes.operation(shared.operation);
    assert.notEqual(nodes.operation({ ...shared.operation }), copy, 'that of a repeat, which is another operation');
  });

  it('has one set of nodes per execution, and none for a context that crier did not create', () => {
    const context = createContext({}, counted().port, factsWith({}));
    assert.equal(nodesOf(context), nodesOf(context));
    for (const other of [undefined, null, 'text', {}]) assert.equal(nodesOf(other), undefined);
    assert.equal(readsOf({} as ExecutionContext), undefined);
  });

  it('records the facts that were read of the connection', () => {
    const context = createContext({}, counted().port, factsWith({ tenant: 'acme', user: 1 }));
    assert.equal(context.connection, context.connection);
    assert.equal(context.connection.claims['tenant'], 'acme');
    const reads = readsOf(context);
    assert.ok(reads && agrees(reads, factsWith({ tenant: 'acme', user: 2 })));
    assert.ok(!agrees(reads, factsWith({ tenant: 'other' })));
  });

  it('counts the caller’s Authorization as read only when a backend receives it', () => {
    const { sent, port, definition } = counted();
    const facts = factsWith({}, ['Authorization', 'Bearer a']);
    const context = createContext(definition, port, facts);
    void context.backends['uaa']!.get('/me');
    assert.equal(readsOf(context), undefined);
    assert.equal(sent[0]!.request.callerHeader('authorization'), 'Bearer a');
    const reads = readsOf(context);
    assert.ok(reads && agrees(reads, facts));
    assert.ok(!agrees(reads, factsWith({}, ['Authorization', 'Bearer b'])));
    assert.ok(!agrees(reads, factsWith({})));
  });

  it('counts another header as read, and no other, when a backend receives it', () => {
    const { sent, port, definition } = counted();
    const headers = ['Authorization', 'Bearer a', 'X-Region', 'eu'];
    const context = createContext(definition, port, factsWith({}, headers));
    void context.backends['uaa']!.get('/me');
    const { callerHeader } = sent[0]!.request;
    assert.deepEqual([callerHeader('x-region'), callerHeader('constructor')], ['eu', undefined]);
    const reads = readsOf(context);
    assert.ok(reads && agrees(reads, factsWith({ user: 2 }, ['x-region', 'eu'])));
    assert.ok(!agrees(reads, factsWith({}, ['Authorization', 'Bearer a', 'X-Region', 'us'])));
    assert.ok(!agrees(reads, factsWith({}, ['Authorization', 'Bearer a'])));
  });

  it('takes Authorization from connection_init, with a scheme, if the request had no such header', () => {
    for (const [params, expected] of [
      [{ Authorization: 'Bearer p' }, 'Bearer p'],
      [{ authorization: 'Bearer q' }, 'Bearer q'],
      [{ authorization: 'Bearer q', Authorization: 'Bearer p' }, 'Bearer q'],
      [{ authorization: 'eyJ.q' }, 'Bearer eyJ.q'],
      [{ Authorization: ' eyJ.p ' }, 'Bearer eyJ.p'],
      [{ token: 'bearer t', authorization: 'Bearer q' }, 'bearer t'],
      [{ token: 'eyJ.t' }, 'Bearer eyJ.t'],
      [{ authorization: 'Basic YTpi' }, 'Basic YTpi'],
      [{ authorization: { not: 'text' } }, undefined],
      [{ authorization: 'Bearer a\r\nx-admin: true' }, undefined],
      [{ token: 'sen\u0303or' }, undefined],
      [{}, undefined],
    ] as const) {
      const { sent, port, definition } = counted();
      void createContext(definition, port, factsWith({}, [], params)).backends['uaa']!.get('/me');
      assert.equal(sent[0]!.request.callerHeader('authorization'), expected);
    }
  });
});
