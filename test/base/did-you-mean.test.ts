import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { didYouMean } from '../../src/base/did-you-mean.ts';
import { OPERATORS } from '../../src/graph/filter/filter-rule.ts';

const nearest = (name: string, names: readonly string[]) => /mean "(.*)"/.exec(didYouMean(name, names))?.[1];

describe('didYouMean', () => {
  it('proposes no operator of another meaning, for those of other systems', () => {
    const proposals = Object.entries({
      GE: 'GTE',
      LE: 'LTE',
      _gte: 'GTE',
      gt: 'GT',
      GTEQ: 'GTE',
      EG: 'EQ',
      NEQ: 'NE',
      _neq: 'NE',
      NIN: undefined,
      _nin: undefined,
      NOT: undefined,
      LIKE: undefined,
      CONTAIN: 'CONTAINS',
      PREFIXES: 'PREFIX',
    });
    assert.deepEqual(
      proposals.map(([name]) => [name, nearest(name, OPERATORS)]),
      proposals,
    );
  });

  it('proposes no name with another prefix, which may be the opposite', () => {
    assert.equal(nearest('UNPAID', ['PAID', 'OPEN']), undefined);
    assert.equal(nearest('PAID', ['UNPAID', 'OPEN']), undefined);
    assert.equal(nearest('INACTIV', ['ACTIVE', 'INACTIVE']), 'INACTIVE');
  });

  it('proposes the nearest of several names, also with another beginning', () => {
    assert.equal(nearest('auctionId', ['auction_ids', 'auction_id']), 'auction_id');
    assert.equal(nearest('prise', ['price', 'rise_at', 'prices']), 'price');
    assert.equal(nearest('tital', ['vital', 'title']), 'vital');
    assert.equal(nearest('Auktion', ['Action', 'Auction']), 'Auction');
    assert.equal(nearest('xrice', ['price']), 'price');
    assert.equal(nearest('anything', ['price', '']), undefined);
  });
});
