import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ENVIRONMENT_NAMES } from '../../../src/config/setting-names.ts';
import { RegistryRequests } from '../../../src/kafka/decoding/registry-requests.ts';
import { SchemaRegistry } from '../../../src/kafka/decoding/schema-registry.ts';
import { registerSchema, schemaRegistry } from '../../support/schema-registry.ts';

const record = (name: string, fields: readonly object[]) => JSON.stringify({ type: 'record', name, fields });

/** A registry behind answers that the test makes up. */
function registryOf(answers: Readonly<Record<string, unknown>>) {
  const asked: string[] = [];
  const get = (path: string) => {
    asked.push(path);
    return Promise.resolve(answers[path]);
  };
  return { registry: new SchemaRegistry({ get, getText: assert.fail, isApicurio: false }, ENVIRONMENT_NAMES), asked };
}

describe('SchemaRegistry with a real registry', () => {
  const stops: (() => Promise<void>)[] = [];
  let url: string;
  let registry: SchemaRegistry;
  before(async () => {
    ({ url } = await schemaRegistry({ after: (stop) => stops.push(stop) }));
    const requests = new RegistryRequests({
      urls: [url],
      timeoutMs: 5000,
      names: ENVIRONMENT_NAMES,
    });
    stops.unshift(() => requests.close());
    registry = new SchemaRegistry(requests, ENVIRONMENT_NAMES);
  });
  after(async () => {
    for (const stop of stops) await stop();
  });

  async function globalIdOf(subject: string): Promise<`globalIds/${number}`> {
    const path = `/apis/registry/v2/groups/default/artifacts/${subject}/meta`;
    const { globalId } = (await (await fetch(new URL(path, url))).json()) as { globalId: number };
    return `globalIds/${globalId}`;
  }

  it('reads a schema with its references, those of references first', async () => {
    const currency = record('Currency', [{ name: 'code', type: 'string' }]);
    const money = record('Money', [{ name: 'currency', type: 'Currency' }]);
    const schema = record('Order', [{ name: 'total', type: 'Money' }]);
    await registerSchema(url, 'currency', { schema: currency });
    const toCurrency = [{ name: 'Currency', subject: 'currency', version: 1 }];
    await registerSchema(url, 'money', { schema: money, references: toCurrency });
    const references = [{ name: 'Money', subject: 'money', version: 1 }];
    const id = await registerSchema(url, 'orders-value', { schema, references });
    const expected = {
      type: 'AVRO',
      text: schema,
      references: [
        { name: 'Currency', text: currency },
        { name: 'Money', text: money },
      ],
    };
    assert.deepEqual(await registry.schema(id), expected);
    assert.deepEqual(await registry.latest('orders-value'), expected);
    assert.deepEqual(await registry.schema('subjects/orders-value'), expected);
    // The ids of Apicurio's own API.
    assert.deepEqual(await registry.schema(`contentIds/${id}`), expected);
    assert.deepEqual(await registry.schema(await globalIdOf('orders-value')), expected);
    assert.equal(await registry.schema('globalIds/999999'), undefined);
    assert.equal(await registry.schema('contentIds/999999'), undefined);
  });

  it('reads the types of schemas', async () => {
    const proto = 'syntax = "proto3"; message Bid { int32 price = 1; }';
    const ofProtobuf = await registerSchema(url, 'bids-value', { schemaType: 'PROTOBUF', schema: proto });
    const json = '{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}';
    const ofJson = await registerSchema(url, 'chat-value', { schemaType: 'JSON', schema: json });
    assert.deepEqual(await registry.schema(ofProtobuf), { type: 'PROTOBUF', text: proto, references: [] });
    assert.equal((await registry.schema(ofJson))?.type, 'JSON');
    assert.equal((await registry.latest('bids-value'))?.type, 'PROTOBUF');
  });

  it('resolves with undefined for an id and a subject that it does not have', async () => {
    assert.equal(await registry.schema(2_147_483_647), undefined);
    assert.equal(await registry.latest('nobody/knows?it-value'), undefined);
  });
});

describe('SchemaRegistry', () => {
  it('asks once for an id that is asked for while the answer is under way', async () => {
    const { registry, asked } = registryOf({ '/schemas/ids/1': { schema: '"int"' } });
    await Promise.all([registry.schema(1), registry.schema(1), registry.schema(1)]);
    assert.deepEqual(asked, ['/schemas/ids/1']);
  });

  it('ends with schemas that refer to each other (S-101)', async () => {
    const to = (name: string) => [{ name, subject: name, version: 1 }];
    const { registry } = registryOf({
      '/schemas/ids/1': { schema: '1', references: to('a') },
      '/subjects/a/versions/1?deleted=true': { schema: 'A', references: to('b') },
      '/subjects/b/versions/1?deleted=true': { schema: 'B', references: to('a') },
    });
    assert.deepEqual(
      (await registry.schema(1))?.references.map(({ name }) => name),
      ['b', 'a'],
    );
  });

  for (const [what, answers] of Object.entries({
    'a reference that does not exist': {
      '/schemas/ids/1': { schema: '1', references: [{ name: 'a', subject: 'a', version: 1 }] },
    },
    'a type that nobody knows': { '/schemas/ids/1': { schema: '1', schemaType: 'THRIFT' } },
  })) {
    it(`refuses ${what}`, async () => {
      await assert.rejects(registryOf(answers).registry.schema(1), { name: 'UnusableSchemaError' });
    });
  }

  for (const [what, answer] of Object.entries({
    'an answer without a schema': {},
    'an answer that is no object': null,
    'references that are no list': { schema: '1', references: 'a' },
  })) {
    it(`takes ${what} for that of another server, so that records wait for the registry`, async () => {
      const { registry } = registryOf({ '/schemas/ids/1': answer });
      await assert.rejects(registry.schema(1), { name: 'SchemaUnavailableError' });
    });
  }

  it('takes an answer without an id for that of another server, and not for an absent subject', async () => {
    const { registry } = registryOf({ '/subjects/a-value/versions/latest': { status: 'ok' } });
    await assert.rejects(registry.latest('a-value'), { name: 'SchemaUnavailableError', message: /is no schema/ });
  });

  it('refuses a schema with more than 200 references', async () => {
    const references = Array.from({ length: 201 }, (_, i) => ({ name: `n${i}`, subject: 's', version: 1 }));
    const { registry } = registryOf({
      '/schemas/ids/1': { schema: '1', references },
      '/subjects/s/versions/1?deleted=true': { schema: 's' },
    });
    await assert.rejects(registry.schema(1), /more than 200 references/);
  });
});
