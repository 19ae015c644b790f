import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Track } from '../../../loadtest/market/clients/track.ts';

/** Entries `[sequence, connection]`. */
function trackOf(...entries: [number, number][]): Track {
  const track = new Track();
  for (const [sequence, connection] of entries) track.add(sequence, connection);
  return track;
}

function missing(track: Track, from: number, to: number): string[] {
  const found: string[] = [];
  track.forEachMissing(from, to, (sequence, isInside) => found.push(`${sequence}${isInside ? ' inside' : ''}`));
  return found;
}

describe('Track', () => {
  it('lacks nothing when every sequence of the window arrived', () => {
    const track = trackOf([4, 1], [5, 1], [6, 1], [7, 1]);
    assert.deepEqual(missing(track, 4, 7), []);
    assert.deepEqual(missing(track, 5, 7), []);
    assert.equal(track.countAbove(4), 3);
    assert.equal(track.countAbove(7), 0);
  });

  it('distinguishes sequences missing within a connection from those missing at its ends', () => {
    const track = trackOf([2, 1], [3, 1], [6, 1], [8, 2], [10, 2]);
    assert.deepEqual(missing(track, 0, 12), ['1', '4 inside', '5 inside', '7', '9 inside', '11', '12']);
    assert.deepEqual(missing(new Track(), 3, 5), ['4', '5']);
  });

  it('counts a duplicate, at once or later, on the same connection or the next', () => {
    const track = new Track();
    const arrivals = [1, 2, 2, 3, 1].map((sequence) => track.add(sequence, 1));
    assert.deepEqual(arrivals, ['new', 'new', 'duplicate', 'new', 'duplicate']);
    assert.equal(track.add(3, 2), 'duplicate');
    assert.equal(track.countAbove(0), 3);
  });

  it('counts a reordered sequence, which is then no longer missing', () => {
    const track = new Track();
    assert.deepEqual(
      [1, 4, 2, 3, 5, 2].map((sequence) => track.add(sequence, 1)),
      ['new', 'new', 'reordered', 'reordered', 'new', 'duplicate'],
    );
    assert.deepEqual(missing(track, 0, 5), []);
    assert.equal(track.countAbove(0), 5);
  });
});
