import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { buildSchema } from 'graphql';
import { PayloadShape } from '../../../src/graph/schema/payload-shape.ts';

const schema = buildSchema(`
  type Query { q: Int }
  scalar JSON
  enum Status { OPEN }
  type Order { id: ID total: Float count: [Int!]! status: Status labels: JSON parent: Order party: Party loaded: Customer }
  type Person { name: String age: Int }
  type Company { name: JSON }
  union Party = Person | Company
  type Customer { id: ID }
`);
const order = schema.getType('Order')!;

function shapeOf(...readers: { payload: string[]; type: string }[]): PayloadShape {
  return PayloadShape.of(
    schema,
    readers.map(({ payload, type }) => ({ payload, type: schema.getType(type)! })),
  );
}

const kindsAt = (shape: PayloadShape, path: string) => [
  ...path.split('.').reduce((at, key) => at.at(key), shape).kinds,
];

describe('PayloadShape', () => {
  it('names what a field reads at each place, lists as their items', () => {
    const shape = shapeOf({ payload: ['order'], type: 'Order' });
    assert.deepEqual([...shape.kinds], []);
    assert.deepEqual(shape.keys, ['order']);
    const kinds = ['order', 'order.id', 'order.total', 'order.count', 'order.status', 'order.labels', 'order.unknown'];
    assert.deepEqual(
      kinds.map((path) => kindsAt(shape, path)),
      [['object'], ['text'], ['number'], ['number'], ['text'], ['custom'], []],
    );
  });

  it('ends a type that contains itself', () => {
    const shape = shapeOf({ payload: [], type: 'Order' });
    assert.equal(shape.at('parent'), shape.at('parent').at('parent'));
    assert.equal(shape.at('unread'), shape.at('unread').at('parent'));
    assert.deepEqual(kindsAt(shape, 'parent.parent.labels'), ['custom']);
  });

  it('has what all types of a union read, and what all fields of the topic read', () => {
    const shape = shapeOf({ payload: ['order'], type: 'Order' }, { payload: [], type: 'JSON' });
    assert.deepEqual([...shape.kinds], ['custom']);
    assert.deepEqual(kindsAt(shape, 'order.party.name'), ['text', 'custom']);
    assert.deepEqual(kindsAt(shape, 'order.party.age'), ['number']);
  });

  it('has nothing at the name of a field with a resolver', () => {
    assert.ok('getFields' in order);
    const { loaded } = order.getFields() as Record<string, { resolve?: () => unknown }>;
    loaded!.resolve = () => ({});
    const shape = shapeOf({ payload: [], type: 'Order' });
    assert.deepEqual(kindsAt(shape, 'loaded'), []);
    assert.equal(shape.keys.includes('loaded'), false);
  });

  it('does not change when fields get resolvers later, as those of a prepared schema do', () => {
    assert.ok('getFields' in order);
    const { id } = order.getFields() as Record<string, { resolve?: (() => unknown) | undefined }>;
    const shape = shapeOf({ payload: [], type: 'Order' });
    id!.resolve = () => 1;
    assert.deepEqual([kindsAt(shape, 'id'), kindsAt(shape, 'parent.parent.id')], [['text'], ['text']]);
    id!.resolve = undefined;
  });
});
