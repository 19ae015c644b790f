import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulate } from './simulation.ts';
import type { Instant } from './simulation.ts';

const MB = 1_000_000;

/** Most bytes that were in flight to a gateway, after the first `from` ms. */
function largest(instants: readonly Instant[], gateway = 0, from = 0): number {
  return instants.slice(from).reduce((bytes, { outstanding }) => Math.max(bytes, outstanding[gateway]!), 0);
}

describe('the pace of a partition', () => {
  it('limits the bytes in flight to half a second of the gateway’s rate, from 1 to 16 MB a second', () => {
    for (const rate of [1_000, 2_000, 5_000, 16_000]) {
      const instants = simulate({ gateways: [{ name: 'a', serve: () => rate }], ms: 8_000 });
      const { served } = instants.at(-1)!;
      assert.ok(served[0]! > 0.97 * rate * 8_000, `${rate} bytes a ms, served ${served[0]}`);
      assert.ok(largest(instants) < 1.1 * rate * 500, `${rate} bytes a ms, ${largest(instants)} on their way`);
    }
  });

  it('exceeds that bound without flow control (twin)', () => {
    const instants = simulate({
      gateways: [{ name: 'a', serve: () => 2_000 }],
      ms: 2_000,
      isFlowControlled: false,
    });
    assert.ok(largest(instants) > 100 * MB);
  });

  it('never has more than 8 MiB in flight, which keep a fast gateway busy', () => {
    const instants = simulate({ gateways: [{ name: 'a', serve: () => 40_000 }], ms: 5_000 });
    assert.ok(largest(instants) < 8 * 1024 * 1024);
    assert.ok(instants.at(-1)!.served[0]! > 0.97 * 40_000 * 5_000);
  });

  it('gives a slow gateway 64 KiB, however long it takes to serve them', () => {
    const instants = simulate({ gateways: [{ name: 'a', serve: () => 20 }], ms: 30_000 });
    assert.ok(largest(instants, 0, 20_000) < 70_000);
    assert.equal(instants.at(-1)!.served[0], 20 * 30_000 - 20 * 2);
  });

  it('follows the slowest gateway, and never lets it run out of messages', () => {
    const instants = simulate({
      gateways: [
        { name: 'fast', serve: () => 2_000 },
        { name: 'slow', serve: () => 500 },
      ],
      ms: 8_000,
    });
    assert.ok(instants.at(-1)!.served[1]! > 0.97 * 500 * 8_000);
    assert.ok(largest(instants, 1) < 1.1 * 500 * 500);
    assert.ok(largest(instants, 0, 1_000) < 0.1 * MB);
  });

  it('stays steady when a gateway serves in bursts, or pauses repeatedly', () => {
    const plans = {
      lumps: (ms: number) => (ms % 30 === 0 ? 60_000 : 0),
      pauses: (ms: number) => (ms % 1_000 < 200 ? 0 : 2_500),
      thirds: (ms: number) => (ms % 290 === 0 ? 580_000 : 0),
      halves: (ms: number) => (ms % 200 < 100 ? 0 : 4_000),
    };
    for (const [name, serve] of Object.entries(plans)) {
      const instants = simulate({ gateways: [{ name, serve }], ms: 10_000 });
      const published = instants.at(-1)!.published - instants[2_000]!.published;
      assert.ok(published > 0.97 * 2_000 * 8_000, `${name}: ${published} published`);
      assert.ok(largest(instants) < 1.3 * MB, `${name}: ${largest(instants)} on their way`);
    }
  });

  it('resumes without a burst when a gateway continues after a pause', () => {
    const instants = simulate({
      gateways: [{ name: 'a', serve: (ms) => (ms > 2_000 && ms < 5_000 ? 0 : 2_000) }],
      ms: 8_000,
    });
    assert.ok(largest(instants) < 1.1 * MB);
    assert.ok(instants.at(-1)!.served[0]! > 0.97 * 2_000 * 5_000);
  });

  it('stops waiting for a frozen gateway after the patience; the other gateway keeps its bound', () => {
    const instants = simulate({
      gateways: [
        { name: 'frozen', serve: () => 2_000, isFrozen: (ms) => ms > 2_000 },
        { name: 'healthy', serve: () => 2_000 },
      ],
      ms: 12_000,
    });
    const silence = instants.filter(({ served }, i) => i > 0 && served[1] === instants[i - 1]!.served[1]).length;
    assert.ok(silence > 4_000 && silence < 5_500, `${silence} ms without an event`);
    assert.ok(largest(instants, 1) < 1.1 * MB);
    assert.ok(instants.at(-1)!.served[1]! > 0.95 * 2_000 * 7_000);
  });

  it('waits again for a gateway that was left behind once it has room', () => {
    const instants = simulate({
      gateways: [
        { name: 'thawed', serve: () => 4_000, isFrozen: (ms) => ms > 2_000 && ms < 9_000 },
        { name: 'steady', serve: () => 1_000 },
      ],
      ms: 20_000,
    });
    assert.ok(largest(instants, 0) > 1.2 * MB, 'it was left behind');
    assert.ok(largest(instants, 0, 18_000) < 0.6 * MB);
  });

  it('never limits a source that is slower than the gateway', () => {
    const instants = simulate({ gateways: [{ name: 'a', serve: () => 2_000 }], source: () => 1_250, ms: 5_000 });
    assert.ok(instants.at(-1)!.published > 1_250 * 5_000 - 5_000);
    assert.ok(largest(instants) < 20_000);
  });
});
