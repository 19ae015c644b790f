import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { rowsOf, shortfallsOf } from '../../../loadtest/ladder/figures.ts';
import type { Figures } from '../../../loadtest/ladder/figures.ts';
import { ladderTable } from '../../../loadtest/ladder.ts';
import { rungs } from '../../../loadtest/ladder/rungs.ts';
import { readConfig } from '../../../src/config/config.ts';

function figures(sentPerSecond: number, idleMegabytes = 100): Figures {
  return {
    seconds: 10,
    received: sentPerSecond / 400,
    sent: sentPerSecond * 10,
    sentPerSecond,
    cpuUs: 1e6 / sentPerSecond,
    idleMegabytes,
    floodMegabytes: 200,
    residentMegabytes: 300,
    scavenges: 10,
    gcPercent: 5,
    clientCpuPercent: 20,
  };
}

describe("the ladder's rungs of crier", () => {
  const techniques = ['WRITE_BATCHING', 'PROJECTION', 'SHARING', 'KEY_REWRITER'] as const;
  const settingsOf = (name: string) => {
    const config = readConfig(rungs.find((rung) => rung.name === name)!.pod!.environment!);
    return techniques.filter((technique) => config[technique]);
  };

  it('turn on one technique after the other, up to the default settings', () => {
    assert.deepEqual(settingsOf('transport'), []);
    assert.deepEqual(settingsOf('one-write'), techniques.slice(0, 1));
    assert.deepEqual(settingsOf('projection'), techniques.slice(0, 2));
    assert.deepEqual(settingsOf('sharing'), techniques.slice(0, 3));
    assert.deepEqual(settingsOf('crier'), techniques);
  });
});

describe("the ladder's report", () => {
  it('compares every rung with the baseline, beside the figures of the talk', () => {
    const rows = rowsOf(rungs, new Map([['baseline', figures(2000)], ['memoised', figures(8000, 50)]])); // prettier-ignore
    assert.deepEqual(rows.map(({ name }) => name), ['baseline', 'pubsub', 'memoised']); // prettier-ignore
    const { measured, talkRatios } = rows[2]!;
    assert.deepEqual(measured?.ratios, { received: 4, sent: 4, idle: 0.5 });
    assert.deepEqual(talkRatios, { received: 69 / 16, sent: 276 / 56 });
  });

  it('reports each promise that crier breaks', () => {
    const climbed = (crier: Figures) =>
      rowsOf(rungs, new Map([['baseline', figures(2000)], ['compiled', figures(20_000)], ['crier', crier]])); // prettier-ignore
    assert.deepEqual(shortfallsOf(climbed(figures(400_000, 90))), []);
    assert.deepEqual(shortfallsOf(climbed(figures(100_000, 110))), [
      'crier sent 50.0 times the messages of the baseline, expected at least 100 times',
      "crier sent 5.0 times the messages of the talk's end state, expected at least 20 times",
      "crier's idle plateau is 110 MB, expected less than the 100 MB of the talk's end state",
    ]);
  });

  it("prints counts of the talk's four minutes beside the talk's, and nothing where it gave none", () => {
    const rows = rowsOf(rungs, new Map([['baseline', figures(250)], ['iteration', figures(500)]])); // prettier-ignore
    const [, baseline, iteration] = ladderTable(rows);
    assert.deepEqual(baseline!.slice(1, 8), ['15', '16', '60,000', '56,000', '250', '1.00', '1.00']);
    assert.deepEqual(iteration!.slice(1, 8), ['30', '', '120,000', '', '500', '2.00', '']);
    assert.equal(iteration!.at(-1), 'sent a little above baseline');
  });

  it('has a line for every rung, with equally many cells', () => {
    const rows = rowsOf(rungs, new Map(rungs.map(({ name }, i) => [name, figures(2000 * (i + 1))])));
    const [headings, ...lines] = ladderTable(rows);
    assert.equal(lines.length, rungs.length);
    for (const line of lines) assert.equal(line.length, headings!.length);
  });
});
