import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Silence } from './silence.ts';

describe('Silence', () => {
  it('is the longest time without a message in a lane', () => {
    const silence = new Silence();
    silence.begin(['a', 'b'], 100);
    silence.heard('a', 150);
    silence.heard('b', 170);
    silence.heard('a', 230);
    silence.heard('b', 240);
    assert.deepEqual(silence.longest(240), { lane: 'a', ms: 80 });
  });

  it('counts a silence that has not ended, from the first moment on', () => {
    const silence = new Silence();
    silence.begin(['a', 'b'], 100);
    silence.heard('a', 190);
    assert.deepEqual(silence.longest(200), { lane: 'b', ms: 100 });
  });

  it('forgets earlier silences and other lanes when it restarts', () => {
    const silence = new Silence();
    silence.begin(['a'], 0);
    silence.heard('a', 1000);
    silence.begin(['a'], 1000);
    silence.heard('b', 1500);
    silence.heard('a', 1600);
    assert.deepEqual(silence.longest(1600), { lane: 'a', ms: 600 });
  });
});
