import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { channelKeys, channelLabel, channelName, channelPattern, topicOf } from '../../src/bus/channel.ts';

it('puts the topic, and a value or "*" for each path, into the name of a channel', () => {
  const keys = [
    { path: 'bid.auction_id', value: '7' },
    { path: 'bid.seller', value: undefined },
  ];
  assert.equal(channelName('crier:', 'bids', keys), 'crier:bids{bid.auction_id="7",bid.seller=*}');
  assert.equal(channelName('', 'bids', []), 'bids{}');
});

it('labels a channel without its values, and finds its topic whatever the prefix', () => {
  assert.equal(channelLabel('crier:bids{id="secret{"}'), 'crier:bids');
  assert.equal(topicOf('{c}:bids{id="1{"}', '{c}:'), 'bids');
});

it('shows the pattern of a channel without its values, and of a plain one its first word', () => {
  const keys = [
    { path: 'a.b', value: 'secret{=",' },
    { path: '.header "x=1,"', value: undefined },
  ];
  assert.equal(channelPattern(channelName('{c}:', 'bids', keys), '{c}:'), 'bids{a.b=…,.header "x=1,"=*}');
  assert.equal(channelPattern('crier:bids{}', 'crier:'), 'bids{}');
  assert.equal(channelPattern('typing.secret', 'crier:'), 'typing');
});

it('shows no value of a channel in its pattern, whatever the values are (property)', () => {
  const value = fc.option(fc.string({ unit: 'binary' }), { nil: undefined });
  const key = fc.record({ path: fc.constantFrom('a.b', '.header "x=1,\\"{"'), value });
  fc.assert(
    fc.property(fc.array(key), (keys) => {
      const shown = keys.map(({ path, value: own }) => `${path}=${own === undefined ? '*' : '…'}`);
      assert.equal(channelPattern(channelName('{c}:', 't', keys), '{c}:'), `t{${shown.join()}}`);
    }),
  );
});

it('distinguishes the value "*" from any value', () => {
  const star = channelName('', 't', [{ path: 'p', value: '*' }]);
  assert.notEqual(star, channelName('', 't', [{ path: 'p', value: undefined }]));
});

it('gives different values different names, also as bytes (property)', () => {
  const value = fc.option(fc.string({ unit: 'binary' }), { nil: undefined });
  const values = fc.array(value, { minLength: 2, maxLength: 2 });
  const name = ([a, b]: (string | undefined)[]) =>
    channelName('c:', 't', [
      { path: 'a', value: a },
      { path: 'b', value: b },
    ]);
  fc.assert(
    fc.property(values, values, (one, other) => {
      const isSame = one[0] === other[0] && one[1] === other[1];
      assert.equal(Buffer.from(name(one)).equals(Buffer.from(name(other))), isSame);
    }),
    { numRuns: 2_000 },
  );
});

it('survives encoding as UTF-8, lone surrogates included', () => {
  const name = channelName('c:', 't', [{ path: 'p', value: '\ud800x\udfff' }]);
  assert.equal(Buffer.from(name).toString(), name);
  assert.notEqual(name, channelName('c:', 't', [{ path: 'p', value: '\ufffdx\ufffd' }]));
});

it('finds the keys of a channel in its name, whatever values and headers are (property)', () => {
  const path = fc.oneof(
    fc.constantFrom('id', 'a.b', '.key'),
    fc.string().map((name) => `.header ${JSON.stringify(name)}`),
  );
  const value = fc.option(fc.string({ unit: 'binary' }), { nil: undefined });
  const keys = fc.array(
    fc.tuple(path, value).map(([ofKey, given]) => ({ path: ofKey, value: given })),
    { maxLength: 3 },
  );
  fc.assert(
    fc.property(keys, (given) => assert.deepEqual(channelKeys(channelName('p:', 't', given)), given)),
    { numRuns: 2_000 },
  );
  assert.deepEqual(channelKeys('{c}:t{id="7"}'), [{ path: 'id', value: '7' }]);
});
