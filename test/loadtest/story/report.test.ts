import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { heapFigures } from '../../../loadtest/story/figures.ts';
import { sumOfCounter } from '../../../loadtest/processes/metrics.ts';
import { countsTable, remarks, tablesOf } from '../../../loadtest/story/report/tables.ts';
import { storyPicture } from '../../../loadtest/story/report/time-chart.ts';
import type { PhaseName, StoryResult, StorySample } from '../../../loadtest/story/result.ts';

const NONE = { scavenge: 0, markSweep: 0, incremental: 0, weakCallbacks: 0 };

function sample(phase: PhaseName, atMs: number, heapUsedBytes: number): StorySample {
  const figures = { residentBytes: 0, externalBytes: 0, lagMs: 0, gcMs: NONE, gcCount: NONE, cpuMs: 500 };
  return { phase, atMs, durationMs: 1000, heapUsedBytes, ...figures, recordsConsumed: 0, delivered: 0 };
}

const samples = [
  sample('bare', 1000, 30e6),
  ...[40e6, 90e6, 60e6, 61e6, 62e6].map((bytes, i) => sample('idle', 2000 + i * 1000, bytes)),
  sample('flood', 8000, 200e6),
];

const result: StoryResult = {
  pod: 'crier',
  title: 'crier <2>',
  sockets: 4000,
  phases: [
    { name: 'bare', fromMs: 0, toMs: 1000 },
    { name: 'idle', fromMs: 1000, toMs: 7000 },
    { name: 'flood', fromMs: 7000, toMs: 8000 },
  ],
  samples,
  connectMs: 900,
  flood: { durationMs: 60_000, received: 400, sent: 1_600_000, produced: 401, drainMs: 20, delivered: 1_604_000 },
  heap: heapFigures(samples),
  messageBytes: 2070,
  clientCpuPercent: 40,
  gcPercent: 3,
  producer: 'kcat',
  openLoop: undefined,
  faults: [],
};

describe("the story's figures", () => {
  it('take the plateau from the second half of a phase and the maximum from all of it', () => {
    assert.deepEqual(result.heap, {
      bareMax: 30e6,
      idleMax: 90e6,
      idlePlateau: 61e6,
      floodMax: 200e6,
      floodPlateau: 200e6,
    });
  });

  it('sum all series of one counter', () => {
    const text =
      '# HELP n_total x\nn_total{topic="a b"} 3\nn_total{topic="c"} 4 1700000000000\nn_total_more 9\nother 1\n';
    assert.equal(sumOfCounter(text, 'n_total'), 7);
    assert.equal(sumOfCounter('n_total 12\n', 'n_total'), 12);
  });
});

describe("the story's report", () => {
  it("compares rates with the talk's baseline, whose flood took four minutes", () => {
    const own = countsTable(result).table.at(-1)!;
    assert.deepEqual(own.slice(1), ['60 s', '400', '1,600,000', '400', '1,600,000', '100 ×', '114 ×']);
  });

  it('prints a figure of the talk only beside the step for which the talk gave it', () => {
    const [counts, heap] = tablesOf(result).map(({ table }) =>
      table.slice(1).map((cells) => cells.filter((cell) => cell !== '')),
    );
    assert.deepEqual(counts![1]!.slice(0, 4), [
      "the talk's last counts (snake_case in place)",
      '240 s',
      '117',
      '476,000',
    ]);
    assert.deepEqual(heap!.slice(0, 3), [
      ["the talk's baseline", '600 MB', 'over 1,000 MB'],
      ['the talk without locations', 'just under 1,000 MB'],
      ["the talk's end", '300 MB'],
    ]);
  });

  it('escapes its texts and shows every phase', () => {
    const picture = storyPicture(result);
    assert.match(picture, /Node\.js max heap used: crier &#60;2&#62;/);
    for (const phase of ['bare', 'idle', 'flood']) assert.match(picture, new RegExp(`>${phase}</text>`));
  });

  it('shows the backlog in Kafka and the bounds after an open-loop flood', () => {
    const backlog = { kafkaRecords: 12_345, redisOutputBytes: 1e6, queueBytes: 2e6, residentBytes: 9e7, gaps: 0 };
    const ages = { ageP50Ms: 5, ageP99Ms: 900 };
    const openLoop = {
      pacePerSecond: 27_000,
      writtenPerSecond: 13,
      undelivered: 400,
      inKafka: 390,
      age: { count: 400, p50Ms: 5, p99Ms: 900, p999Ms: 950, maxMs: 960 },
      bounds: [{ name: 'gaps reported to clients', value: '4', limit: '<= 0', isKept: false }],
    };
    const flooded = { ...result, openLoop, samples: samples.map((s) => ({ ...s, backlog: { ...backlog, ...ages } })) };
    const picture = storyPicture(flooded);
    assert.match(picture, /Node\.js max heap used[^]*Records that wait in Kafka/);
    assert.match(picture, /^<svg [^>]*height="600"/);
    assert.equal(picture.match(/<svg/g)?.length, picture.match(/<\/svg>/g)?.length);
    assert.match(remarks(flooded).join('\n'), /From publish to the last socket/);
    assert.match(remarks(flooded)[1]!, /^NOT kept: gaps reported to clients: 4, expected <= 0/);
    assert.deepEqual(tablesOf(flooded).at(-1)!.table.slice(1), [['gaps reported to clients', '4', '<= 0', 'MISSED']]);
  });

  it('shows neither after a closed-loop flood', () => {
    assert.doesNotMatch(storyPicture(result), /wait in Kafka/);
    assert.doesNotMatch(remarks(result).join('\n'), /publish/);
    assert.equal(tablesOf(result).length, 2);
  });

  it('reports a loss, and a client that may have limited the result', () => {
    assert.match(remarks(result).join('\n'), /^Reconciled: each of 401 records/);
    assert.match(remarks({ ...result, faults: ['lost: 3'] })[0]!, /^NOT reconciled: lost: 3/);
    assert.match(remarks({ ...result, clientCpuPercent: 81 })[1]!, /^WARNING: The client used 81 %/);
    assert.match(remarks(result)[2]!, /^WARNING: The pod used 50 % of a core/);
  });
});
