import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { readConfig } from '../../../src/config/config.ts';
import { loadGraph } from '../../../src/graph/loading/load.ts';
import { checkSchemaRegistry } from '../../../src/ops/check/schema-registry-check.ts';
import { graphFolder } from '../../graph/support/graph-folder.ts';

const GRAPH = `
  type Order { id: ID! total: Float }
  type Subscription { order(id: ID!): Order @kafka(topic: "orders", match: [{ arg: "id", path: "id" }]) }`;

/** What is found of a required path, with this as the newest schema of the topic. */
async function found(t: TestContext, schemaType: string, schema: string): Promise<string[]> {
  const answers: Readonly<Record<string, unknown>> = {
    '/schemas/types': ['AVRO', 'PROTOBUF', 'JSON'],
    '/subjects/orders-value/versions/latest': { id: 1 },
    '/schemas/ids/1': { schema, schemaType },
  };
  const server = createServer(({ url = '' }, response) => response.end(JSON.stringify(answers[url])));
  t.after(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const config = readConfig({
    KAFKA_BROKERS: '127.0.0.1:1',
    REDIS_URL: 'redis://127.0.0.1:1',
    SCHEMA_REGISTRY_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  });
  const graph = await loadGraph(await graphFolder(t, { 'schema.graphql': GRAPH }));
  const findings = await checkSchemaRegistry(config, graph);
  return findings.flatMap(({ status, text }) => (/Subscription\.order: .* has no "id"/.test(text) ? [status] : []));
}

describe('checkSchemaRegistry', () => {
  it('fails for a required path that no record can have, and warns where the schema does not say so', async (t) => {
    const order = 'message Order { double total = 2; }';
    const avro = { type: 'record', name: 'Order', fields: [{ name: 'total', type: 'double' }] };
    assert.deepEqual(await found(t, 'AVRO', JSON.stringify(avro)), ['failed']);
    assert.deepEqual(await found(t, 'PROTOBUF', `syntax = "proto3"; ${order}`), ['failed']);
    const inList = order.replace('{', '{ string id = 1;');
    const list = `syntax = "proto3"; ${inList} message Orders { repeated Order orders = 1; }`;
    assert.deepEqual(await found(t, 'PROTOBUF', list), ['warning']);
    assert.deepEqual(await found(t, 'JSON', '{"properties":{"total":{"type":"number"}}}'), ['warning']);
  });
});
