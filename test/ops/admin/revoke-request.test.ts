import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseRevokeRequest, prolonged, revocationOf } from '../../../src/ops/admin/revoke-request.ts';
import { selectionOfQuery } from '../../../src/ops/admin/selection.ts';

const DAY_MS = 86_400_000;

describe('a request to revoke', () => {
  const accepted = [
    ['{"sub":"ida"}', { selection: { name: 'sub', value: 'ida' }, forMs: undefined, reason: '' }],
    ['{"jti":"a","for":"0s"}', { selection: { name: 'jti', value: 'a' }, forMs: 0, reason: '' }],
    [
      '{"sub":"ida","iss":"https://a.example"}',
      { selection: { name: 'sub', value: 'ida', issuer: 'https://a.example' }, forMs: undefined, reason: '' },
    ],
    ['{"connection":"c","reason":"x"}', { selection: { connection: 'c' }, forMs: undefined, reason: 'x' }],
    [
      '{"claim":{"name":"tenant","value":42},"for":"366d"}',
      { selection: { name: 'tenant', value: '42' }, forMs: 366 * DAY_MS, reason: '' },
    ],
    [
      '{"claim":{"name":"a.b","value":true},"for":"15m"}',
      { selection: { name: 'a.b', value: 'true' }, forMs: 900_000, reason: '' },
    ],
  ] as const;
  for (const [text, request] of accepted)
    it(`may be ${text}`, () => assert.deepEqual(parseRevokeRequest(text), request));

  const refused = [
    ['', /JSON object such as/],
    ['[]', /JSON object/],
    ['null', /JSON object/],
    ['"ida"', /JSON object/],
    ['{}', /exactly one of sub, jti, connection, claim, got none/],
    ['{"sub":"a","jti":"b"}', /exactly one of .*, got sub and jti/],
    ['{"sub":"a","Jti":"b"}', /"Jti": expected only sub, jti/],
    ['{"sub":""}', /sub: expected a text/],
    ['{"iss":"https://a.example"}', /exactly one of sub, jti, connection, claim, got none/],
    ['{"sub":"a","iss":1}', /iss: expected a text/],
    ['{"connection":"c","iss":"i"}', /iss: expected with sub, jti or claim, got connection/],
    ['{"sub":42}', /sub: expected a text/],
    [`{"sub":"${'x'.repeat(513)}"}`, /sub: expected a text of 1 to 512/],
    ['{"claim":"tenant"}', /claim: expected \{ "name"/],
    ['{"claim":{"path":"tenant","value":"a"}}', /claim: .*got "path"/],
    ['{"claim":{"name":"","value":"a"}}', /claim\.name: expected/],
    ['{"claim":{"name":"tenant"}}', /claim\.value: expected/],
    ['{"claim":{"name":"tenant","value":["a"]}}', /claim\.value: expected/],
    ['{"sub":"a","for":3600}', /for: expected/],
    ['{"sub":"a","for":"367d"}', /for: expected .*366 days/],
    ['{"sub":"a","for":"-1s"}', /for: expected/],
    [`{"sub":"a","reason":"${'x'.repeat(201)}"}`, /reason: expected/],
  ] as const;
  for (const [text, message] of refused)
    it(`is refused with the reason: ${text.slice(0, 50) || 'nothing'}`, () => {
      const request = parseRevokeRequest(text);
      assert.ok(typeof request === 'string');
      assert.match(request, message);
    });

  it('lasts for a day, or as long as the longest token that the pod has seen', () => {
    const lasts = (forMs: number | undefined, longestLifeMs: number) => {
      const { atMs, untilMs } = revocationOf({ name: 'sub', value: 'a' }, { forMs, reason: '' }, longestLifeMs);
      return untilMs - atMs;
    };
    assert.equal(lasts(undefined, 3_600_000), DAY_MS);
    assert.equal(lasts(undefined, 30 * DAY_MS), 30 * DAY_MS);
    assert.equal(lasts(undefined, 4000 * DAY_MS), 366 * DAY_MS);
    assert.equal(lasts(60_000, 30 * DAY_MS), 60_000);
  });

  it('lasts longer if another pod has seen a longer token', () => {
    const revocation = revocationOf({ name: 'sub', value: 'a' }, { forMs: undefined, reason: '' }, 0);
    assert.equal(prolonged(revocation, DAY_MS), undefined);
    const longer = prolonged(revocation, 30 * DAY_MS);
    assert.deepEqual(longer, { ...revocation, untilMs: revocation.atMs + 30 * DAY_MS });
    assert.equal(prolonged(revocation, 4000 * DAY_MS)!.untilMs, revocation.atMs + 366 * DAY_MS);
  });
});

describe('a query for connections', () => {
  const ask = (query: string) => selectionOfQuery(new URL(`http://a/?${query}`));

  it('names them as the request to revoke does', () => {
    assert.deepEqual(ask('sub=ida'), { name: 'sub', value: 'ida' });
    assert.deepEqual(ask('connection=c'), { connection: 'c' });
    assert.deepEqual(ask('sub=ida&iss=i'), { name: 'sub', value: 'ida', issuer: 'i' });
    assert.deepEqual(ask('claim=tenant&value=a%20b'), { name: 'tenant', value: 'a b' });
  });

  it('is refused if it names none or several', () => {
    const refusals = [
      ['', /exactly one of/],
      ['sub=a&jti=b', /got sub and jti/],
      ['claim=tenant', /claim\.value/],
    ] as const;
    for (const [query, message] of refusals) {
      const refusal = ask(query);
      assert.ok(typeof refusal === 'string');
      assert.match(refusal, message);
    }
  });
});
