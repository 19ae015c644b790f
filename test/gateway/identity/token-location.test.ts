import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tokenOf, withoutToken } from '../../../src/gateway/identity/token-location.ts';

const ORIGIN = ['Origin', 'https://app.example.com'];

describe('tokenOf', () => {
  const places: readonly (readonly [place: string, params: unknown, rawHeaders: readonly string[]])[] = [
    ['the parameter token', { token: 't' }, []],
    ['the parameter authorization', { authorization: 't' }, []],
    ['the parameter Authorization with a scheme', { Authorization: 'Bearer t' }, []],
    ['a scheme in lower case', { authorization: 'bearer  t' }, []],
    ['the Authorization header', {}, ['authorization', 'Bearer t']],
    ['the header when there are no params', undefined, ['Authorization', 'Bearer t']],
    ['the cookie, with an Origin', {}, [...ORIGIN, 'Cookie', 'a=1; session=t; b=2']],
    ['a quoted cookie', {}, [...ORIGIN, 'cookie', 'session="t"']],
    ['the parameter before the header', { token: 't' }, ['Authorization', 'Bearer other']],
    ['the header before the cookie', {}, [...ORIGIN, 'Authorization', 'Bearer t', 'Cookie', 'session=other']],
  ];
  for (const [place, params, rawHeaders] of places) {
    it(`finds a token in ${place}`, () => assert.equal(tokenOf({ params, rawHeaders }, 'session'), 't'));
  }

  const none: readonly (readonly [why: string, params: unknown, rawHeaders: readonly string[], cookie: string])[] = [
    ['there is none', {}, [], 'session'],
    ['the cookie came without an Origin (S-03)', {}, ['Cookie', 'session=t'], 'session'],
    ['no cookie is named', {}, [...ORIGIN, 'Cookie', 'session=t'], ''],
    ['another cookie ends with the name', {}, [...ORIGIN, 'Cookie', 'xsession=t'], 'session'],
    ['the header has another scheme', {}, ['Authorization', 'Basic dDp0'], 'session'],
    ['the parameter is no text', { token: 5, authorization: { t: 1 } }, [], 'session'],
    ['the params are a list', ['token'], [], 'session'],
    ['the parameter is inherited', Object.create({ token: 't' }), [], 'session'],
    ['the parameter is empty', { token: '' }, [], 'session'],
  ];
  for (const [why, params, rawHeaders, cookie] of none) {
    it(`finds none if ${why}`, () => assert.equal(tokenOf({ params, rawHeaders }, cookie), undefined));
  }
});

describe('withoutToken', () => {
  const source = { id: 'c', address: '127.0.0.1' };

  it('has nothing of a token, wherever it may be, and all the rest', () => {
    const params = { token: 't', authorization: 't', Authorization: 't', other: 'o' };
    const rawHeaders = [
      'Authorization',
      'Bearer t',
      'Cookie',
      'a=1; session=t; xsession=2',
      'X-Empty',
      '',
      'Host',
      'h',
    ];
    assert.deepEqual(withoutToken({ ...source, params, rawHeaders }, 'session'), {
      ...source,
      params: { other: 'o' },
      rawHeaders: ['Cookie', 'a=1; xsession=2', 'X-Empty', '', 'Host', 'h'],
    });
  });

  it('keeps every cookie if none may hold a token, and has params if there are none', () => {
    const rawHeaders = ['Cookie', 'session=1; =2; b'];
    const expected = { ...source, params: {}, rawHeaders };
    assert.deepEqual(withoutToken({ ...source, params: undefined, rawHeaders }, ''), expected);
  });
});
