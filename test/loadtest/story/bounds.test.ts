import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { boundsOf, missedBounds } from '../../../loadtest/story/backlog/bounds.ts';
import type { BoundsInput } from '../../../loadtest/story/backlog/bounds.ts';
import type { BacklogSample, PhaseName, StorySample } from '../../../loadtest/story/result.ts';

const KEPT: BacklogSample = {
  kafkaRecords: 9000,
  redisOutputBytes: 4e6,
  queueBytes: 32e6,
  residentBytes: 300e6,
  gaps: 0,
  ageP50Ms: 10,
  ageP99Ms: 1000,
};

function sample(phase: PhaseName, backlog: Partial<BacklogSample> = {}): StorySample {
  return { phase, backlog: { ...KEPT, ...backlog } } as StorySample;
}

const age = { count: 10, p50Ms: 10, p99Ms: 1000, p999Ms: 2000, maxMs: 2000 };
const kept: BoundsInput = {
  samples: [sample('flood'), sample('drain')],
  pacePerSecond: 1000,
  sentPerSecond: 900,
  writtenPerSecond: 2000,
  undelivered: 10_000,
  inKafka: 9000,
  age,
  closed: 0,
  mustKeepPace: true,
};

function missed(input: Partial<BoundsInput>): string[] {
  return missedBounds(boundsOf({ ...kept, ...input })).map((line) => line.split(':')[0]!);
}

describe('boundsOf', () => {
  it('keeps a bound at its limit', () => {
    assert.deepEqual(missed({}), []);
  });

  it('names bounds exceeded in the flood or in its drain', () => {
    const of = (backlog: Partial<BacklogSample>) => missed({ samples: [sample('flood'), sample('drain', backlog)] });
    assert.deepEqual(of({ redisOutputBytes: 4e6 + 1 }), ["Redis's output buffer for a subscriber"]);
    assert.deepEqual(of({ queueBytes: 33e6 }), ["a gateway's queues"]);
    assert.deepEqual(of({ residentBytes: 301e6 }), ['resident memory of a pod']);
    assert.deepEqual(of({ gaps: 1 }), ['gaps reported to clients']);
    assert.deepEqual(missed({ age: { ...age, p99Ms: 1001 } }), ['age from publish to the last socket, p99']);
    assert.deepEqual(missed({ closed: 1 }), ['sockets closed']);
    assert.deepEqual(missed({ inKafka: 8000 }), ['share of the backlog that is in Kafka']);
    assert.deepEqual(missed({ sentPerSecond: 899 }), ["share of the pace phase's throughput"]);
  });

  it('ignores the phases before the flood', () => {
    assert.deepEqual(missed({ samples: [sample('pace', { queueBytes: 33e6 }), sample('flood')] }), []);
  });

  it('bounds the throughput only for pod sets that must keep the pace', () => {
    assert.deepEqual(missed({ sentPerSecond: 1, mustKeepPace: false }), []);
  });

  it('misses the share in Kafka when there was no backlog', () => {
    assert.deepEqual(missed({ undelivered: 0, inKafka: 0 }), ['share of the backlog that is in Kafka']);
  });
});
