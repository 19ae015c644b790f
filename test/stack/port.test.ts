import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { freePorts } from '../../stack/port.ts';

describe('freePorts', () => {
  it('returns no port twice, also over several calls', async () => {
    const ports: number[] = [];
    // By chance alone, 1,500 of 12,768 ports would nearly always hold a pair.
    for (let call = 0; call < 500; call++) ports.push(...(await freePorts(3)));
    assert.equal(new Set(ports).size, 1_500);
  });
});
