import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SchemaReference } from '../../../src/kafka/decoding/decoder.ts';
import { compileJsonSchema } from '../../../src/kafka/decoding/json-schema.ts';
import { decoderOptions } from './schema-decoders.ts';

function fieldsOf(schema: unknown, references: readonly SchemaReference[] = []) {
  return compileJsonSchema(JSON.stringify(schema), references, decoderOptions()).fields;
}

const object = (properties: object) => ({ type: 'object', properties });

describe('compileJsonSchema', () => {
  it('lists the fields of each place by their names in the payload', () => {
    const line = object({ unitPrice: { type: 'integer' } });
    const fields = fieldsOf(object({ orderId: {}, orderLines: { type: 'array', items: line }, first: line }));
    assert.deepEqual(fields.keys, ['order_id', 'order_lines', 'first']);
    assert.deepEqual(fields.at('order_lines')?.keys, ['unit_price']);
    assert.deepEqual(fields.at('first')?.keys, ['unit_price']);
    assert.equal(fields.at('order_id'), undefined);
    assert.equal(fields.at('none'), undefined);
  });

  it('follows references within the schema and to other ones, and combinations', () => {
    const address = {
      $defs: { Street: object({ streetName: {} }) },
      ...object({ street: { $ref: '#/$defs/Street' } }),
    };
    const references = [{ name: 'address.json', text: JSON.stringify(address) }];
    const schema = {
      definitions: { 'a/b': object({ shared: {} }) },
      allOf: [{ $ref: '#/definitions/a~1b' }, object({ address: { $ref: 'address.json' } })],
      oneOf: [object({ paidAt: {} }), { anyOf: [object({ sentAt: {} })] }],
      properties: { street: { $ref: 'address.json#/$defs/Street' } },
    };
    const fields = fieldsOf(schema, references);
    assert.deepEqual([...fields.keys!].sort(), ['address', 'paid_at', 'sent_at', 'shared', 'street']);
    assert.deepEqual(fields.at('address')?.at('street')?.keys, ['street_name']);
    assert.deepEqual(fields.at('street')?.keys, ['street_name']);
  });

  it('knows no keys of an object whose keys are data', () => {
    const fields = fieldsOf(object({ byMail: { additionalProperties: object({ aB: {} }) }, any: { type: 'object' } }));
    assert.equal(fields.at('by_mail')?.keys, undefined);
    assert.deepEqual(fields.at('by_mail')?.at('ann@x.com')?.keys, ['a_b']);
    assert.deepEqual([fields.at('any')?.keys, fields.at('any')?.at('x')], [undefined, undefined]);
  });

  it('ends with a schema that contains itself, with circles and with references that lead nowhere', () => {
    const node = fieldsOf({ $id: 'node', ...object({ next: { $ref: '#' }, value: { $ref: '#/none/x' } }) });
    assert.deepEqual(node.at('next')?.at('next')?.keys, ['next', 'value']);
    assert.equal(node.at('value'), undefined);
    const circle = { $defs: { A: { $ref: '#/$defs/B' }, B: { allOf: [{ $ref: '#/$defs/A' }] } }, $ref: '#/$defs/A' };
    assert.deepEqual(fieldsOf(circle).keys, []);
    for (const schema of [
      true,
      null,
      [],
      'text',
      { $ref: 7 },
      { $ref: '#/constructor/prototype' },
      { properties: [] },
    ]) {
      assert.deepEqual(fieldsOf(schema).keys, []);
    }
  });
});
