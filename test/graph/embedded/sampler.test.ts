import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { describe, it } from 'node:test';
import { pino } from 'pino';
import { Sampler, encoded } from '../../../src/graph/embedded/sampler.ts';
import type { EncodedSample, SamplerOptions } from '../../../src/graph/embedded/sampler.ts';
import type { SampleRecord } from '../../../src/graph/graph-parts.ts';
import { waitFor } from '../../support/wait-for.ts';

function* counting(seed: number): Generator<SampleRecord> {
  for (let count = seed; ; count++) yield { topic: `topic-${count % 2}`, value: { count } };
}

function sampler(options: Partial<SamplerOptions> = {}) {
  const taken: [string, unknown][] = [];
  const logged: string[] = [];
  const process = ({ topic, value }: EncodedSample) => {
    taken.push([topic, JSON.parse(String(value))]);
    return Promise.resolve();
  };
  const lines = new Writable({ write: (line: Buffer, _, done) => (logged.push(line.toString()), done()) });
  const log = pino(lines);
  const defaults = {
    samples: { records: () => counting(5) },
    problemOf: () => undefined,
    intervalMs: 1,
    process,
    log,
  };
  return {
    sampler: new Sampler({ ...defaults, ...options }),
    taken,
    logged,
  };
}

describe('Sampler', () => {
  it('writes a BigInt of the samples with all its digits', () => {
    const { value } = encoded({ topic: 't', value: { id: 9007199254740993n, n: 7n } });
    assert.equal(String(value), '{"id":"9007199254740993","n":7}');
  });

  it('sends records as JSON, in order, the first one at once', async () => {
    const { sampler: running, taken } = sampler();
    running.start();
    running.start();
    assert.deepEqual(taken, [['topic-1', { count: 5 }]]);
    await waitFor('four records', () => taken.length >= 4);
    await running.close();
    assert.deepEqual(taken.slice(0, 3), [
      ['topic-1', { count: 5 }],
      ['topic-0', { count: 6 }],
      ['topic-1', { count: 7 }],
    ]);
  });

  it('sends the key of a record, and a null value as a tombstone', async () => {
    const records: EncodedSample[] = [];
    const { sampler: running, logged } = sampler({
      samples: { records: () => [{ topic: 'a', key: '7', value: null }] },
      process: (record) => Promise.resolve(void records.push(record)),
    });
    running.start();
    await waitFor('the end', () => logged.length > 0);
    assert.deepEqual(records, [{ topic: 'a', key: Buffer.from('7'), value: null }]);
    await running.close();
  });

  it('waits until a record is processed before it sends the next one', async () => {
    let inside = 0;
    let done = 0;
    const process = async () => {
      assert.equal(++inside, 1);
      await new Promise((resolve) => setTimeout(resolve, 5));
      inside--;
      done++;
    };
    const { sampler: running } = sampler({ process });
    running.start();
    await waitFor('three records', () => done >= 3);
    await running.close();
    assert.equal(inside, 0, 'close waited for the record on its way');
  });

  it('aborts the signal of the current record when it is closed', async () => {
    const process = (_record: EncodedSample, signal: AbortSignal) =>
      new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    const { sampler: running, logged } = sampler({ process });
    running.start();
    await running.close();
    assert.deepEqual(logged, []);
  });

  it('skips a record that nobody receives, and logs why once', async () => {
    const problemOf = ({ topic }: SampleRecord) => (topic === 'topic-0' ? 'unread: topic-0' : undefined);
    const { sampler: running, taken, logged } = sampler({ problemOf });
    running.start();
    await waitFor('four records', () => taken.length >= 4);
    await running.close();
    assert.deepEqual(taken.slice(0, 2), [
      ['topic-1', { count: 5 }],
      ['topic-1', { count: 7 }],
    ]);
    assert.deepEqual(
      logged.map((line) => (JSON.parse(line) as { msg: string }).msg),
      ['unread: topic-0'],
    );
  });

  it('logs a record that fails, and continues with the next one', async () => {
    let calls = 0;
    const process = () => (++calls === 1 ? Promise.reject(new Error('refused')) : Promise.resolve());
    const { sampler: running, logged } = sampler({ process });
    running.start();
    await waitFor('three records', () => calls >= 3);
    await running.close();
    assert.equal(logged.length, 1);
    assert.match(logged[0]!, /refused.*processing a sample record failed/);
  });

  it('logs samples that fail or end', async () => {
    const failing = sampler({
      samples: {
        *records() {
          yield { topic: 'a', value: 1 };
          throw new Error('broken samples');
        },
      },
    });
    failing.sampler.start();
    await waitFor('the line', () => failing.logged.length > 0);
    assert.match(failing.logged[0]!, /broken samples/);
    const ending = sampler({ samples: { records: () => [{ topic: 'a', value: 1 }] } });
    ending.sampler.start();
    await waitFor('the line', () => ending.logged.length > 0);
    assert.match(ending.logged[0]!, /samples have ended after 1 records/);
    await Promise.all([failing.sampler.close(), ending.sampler.close()]);
  });

  it('closes at once: during a pause, twice, and before the start', async () => {
    const { sampler: running, taken } = sampler({ intervalMs: 1_000_000 });
    running.start();
    await running.close();
    await running.close();
    assert.equal(taken.length, 1);
    await sampler().sampler.close();
  });
});
