import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { endedNodeLine } from '../../src/config/node-line.ts';

describe('endedNodeLine', () => {
  const on = (version: string, day: string) => endedNodeLine(version, new Date(`${day}T12:00:00Z`));

  it('names the lines that live from the day after the end on', () => {
    assert.equal(on('v20.19.0', '2026-04-30'), undefined);
    const text = 'Node 20 has got no security fixes since April 2026: run crier with Node 22, 24 or 26';
    assert.equal(on('v20.19.0', '2026-12-01'), text);
    assert.match(on('v25.9.0', '2026-12-01')!, /^Node 25 .* June 2026/);
    assert.match(on('v22.23.3', '2027-05-01')!, /^Node 22 .* with Node 24 or 26$/);
  });

  it('is silent on lines that live, and on those that it does not know', () => {
    for (const version of ['v22.0.0', 'v24.21.0', 'v26.10.0', 'v28.0.0'])
      assert.equal(on(version, '2026-12-01'), undefined);
  });
});
