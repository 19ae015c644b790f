import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { firstSamples } from '../../../src/graph/embedded/first-samples.ts';
import { sampleProblem } from '../../../src/graph/embedded/sample-problem.ts';
import { defineGraph } from '../../../src/library/define-graph.ts';

const graph = defineGraph({
  schema:
    'type Subscription { order: Order @kafka(topic: "orders") bid: Order @kafka(topic: "bids") } type Order { id: ID }',
});

describe('sampleProblem', () => {
  const problems: readonly (readonly [record: unknown, problem: RegExp])[] = [
    [
      { topic: 'order', value: {} },
      /^samples\.ts yields a record that nobody receives: no field of the graph reads the topic "order"; topics that are read: orders, bids; did you mean "orders"\?$/,
    ],
    [{ value: {} }, /: it has no topic; yield \{ topic: "orders", value: \{ … \} \}$/],
    [{ topic: 7, value: {} }, /: its topic is 7 and no text; /],
    [{ topic: 'bids' }, /: it has no value; write value: \{ … \}, or value: null for a tombstone$/],
    [{ topic: 'bids', key: 7, value: {} }, /: its key is 7 and no text; write key: String\(…\)$/],
    [undefined, /: it is undefined and no object; yield \{ topic: "orders"/],
    [
      { topic: 'bids', value: '{"id":1}' },
      /: its value is a text, and a payload is an object; write the object without JSON\.stringify\(\): crier encodes it$/,
    ],
    [{ topic: 'bids', value: 7 }, /: its value is a number, and a payload is an object; write value: \{ … \}$/],
    [
      { topic: 'bids', value: [{}] },
      /: its value is a list, and a payload is an object; write a record for each item$/,
    ],
    [
      { topic: 'bids', value: Buffer.from('{}') },
      /: its value is bytes; write the object, which crier encodes as JSON$/,
    ],
    ['orders', /: it is orders and no object; /],
  ];
  for (const [record, problem] of problems) {
    it(`says why nobody receives ${JSON.stringify(record)}`, () => {
      assert.match(sampleProblem(record, graph) ?? '', problem);
    });
  }

  it('finds nothing in records and tombstones of topics that are read', () => {
    assert.equal(sampleProblem({ topic: 'orders', key: '7', value: {} }, graph), undefined);
    assert.equal(sampleProblem({ topic: 'bids', value: null }, graph), undefined);
    const outbox = defineGraph({
      schema: 'type Subscription { a: A @kafka(topic: "a", envelope: OUTBOX, tombstone: SKIP) } type A { id: ID }',
    });
    assert.equal(sampleProblem({ topic: 'a', value: '{"id":1}' }, outbox), undefined);
  });
});

describe('firstSamples', () => {
  it('has the records that a field may read at their offsets, and names each problem of the others once', () => {
    const { topics, problems } = firstSamples(
      { records: () => ['order', 'bids', 'order', 'bids'].map((topic) => ({ topic, value: {} })) },
      graph,
    );
    assert.deepEqual(
      Array.from(topics, ([topic, samples]) => [topic, ...samples.map(({ offset }) => offset)]),
      [['bids', '0', '1']],
    );
    assert.equal(problems.length, 1);
  });

  it('names samples without a record', () => {
    assert.deepEqual(firstSamples({ records: () => [] }, graph).problems, [
      'records() of samples.ts yields none, so no event will come; yield { topic, value }',
    ]);
  });
});
