import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { rowsOf, shortfallsOf } from '../../../loadtest/ladder/figures.ts';
import type { Figures } from '../../../loadtest/ladder/figures.ts';
import { findingsOf, verdictOf } from '../../../loadtest/ladder/findings.ts';
import { ladderPicture } from '../../../loadtest/ladder/picture.ts';
import { ladderTable } from '../../../loadtest/ladder/report.ts';
import { rungs } from '../../../loadtest/ladder/rungs.ts';
import { readConfig } from '../../../src/config/config.ts';
import { escapeMarkup } from '../../../src/base/escape-markup.ts';

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
    return { on: techniques.filter((technique) => config[technique]), jitAfterUses: config.JIT_AFTER_USES };
  };

  it('turn on one technique after the other, up to the default settings', () => {
    assert.deepEqual(settingsOf('transport'), { on: [], jitAfterUses: 1 });
    assert.deepEqual(settingsOf('one-write'), { on: techniques.slice(0, 1), jitAfterUses: 1 });
    assert.deepEqual(settingsOf('projection'), { on: techniques.slice(0, 2), jitAfterUses: 1 });
    assert.deepEqual(settingsOf('sharing'), { on: techniques.slice(0, 3), jitAfterUses: 1 });
    assert.deepEqual(settingsOf('crier'), { on: techniques, jitAfterUses: 3 });
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

  it('compares a step with the counts that the talk gave for it and for the state before', () => {
    const measured = { baseline: 2000, 'lazy-backends': 1900, iteration: 2500, memoised: 8000, 'no-locations': 8100 };
    const rows = rowsOf(rungs, new Map(Object.entries(measured).map(([name, rate]) => [name, figures(rate)])));
    const findings = findingsOf(rows);
    assert.match(
      findings[0]!,
      /^\*\*lazy backends.*× 0\.95 .*"baseline", in the talk × 0\.93 \(52,000 \/ 56,000\): reproduces\. /,
    );
    // Every rung has the newer graphql-redis-subscriptions, so the talk's count with it is that of the state before.
    assert.match(
      findings[2]!,
      /^\*\*memoised.*× 3\.20 .*, in the talk × 3\.83 \(276,000 \/ 72,000\): reproduces\. A message costs 125 µs of CPU, 275 µs less/,
    );
  });

  it('compares no step for which the talk gave no count', () => {
    const rows = rowsOf(
      rungs,
      new Map(rungs.filter(({ pod }) => pod).map(({ name }, i) => [name, figures(2000 * (i + 1))])),
    );
    const verdicts = findingsOf(rows).map(
      (finding) => /^\*\*(.*)\*\*/.exec(finding)![1] + (/in the talk/.test(finding) ? ': compared' : ''),
    );
    assert.deepEqual(verdicts.slice(0, 7), [
      'lazy backends: compared',
      'snake_case by native iteration',
      'memoised snakeCase: compared',
      'compiled for Node: compared',
      'snake_case in place: compared',
      'no locations in the AST',
      'lazy loaders, document cache, JIT',
    ]);
    for (const verdict of verdicts.slice(7)) assert.doesNotMatch(verdict, /compared/);
  });

  it('classifies a step by its factors here and in the talk', () => {
    assert.equal(verdictOf(1.05, 0.93), 'reproduces');
    assert.equal(verdictOf(1.5, 1.6), 'reproduces');
    assert.equal(verdictOf(1.2, 4), 'weaker here');
    assert.equal(verdictOf(4, 1.5), 'stronger here');
    assert.equal(verdictOf(1.02, 4), 'does not reproduce');
    assert.equal(verdictOf(0.5, 2), 'does not reproduce');
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

  it('has equally many cells in every line, and a picture with every rung', () => {
    const rows = rowsOf(rungs, new Map(rungs.map(({ name }, i) => [name, figures(2000 * (i + 1))])));
    const [headings, ...lines] = ladderTable(rows);
    assert.equal(lines.length, rungs.length);
    for (const line of lines) assert.equal(line.length, headings!.length);
    const svg = ladderPicture(rows, 'note');
    for (const { title } of rungs) assert.ok(svg.includes(escapeMarkup(title)), title);
  });
});
