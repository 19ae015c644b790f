import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { callbackRequestOf } from '../../../src/gateway/callback/callback-request.ts';

const PREFIXES = ['http://127.0.0.1:4000/callback'];
const EXTENSION = {
  callbackUrl: 'http://127.0.0.1:4000/callback/1',
  subscriptionId: '1',
  verifier: 'secret',
  heartbeatIntervalMs: 0,
};

const read = (members: object) => callbackRequestOf({ ...EXTENSION, ...members }, PREFIXES, 128);

describe('the URL of a callback', () => {
  const refused: Readonly<Record<string, unknown>> = {
    'of another port': 'http://127.0.0.1:3999/callback/1',
    'of another host': 'http://localhost:4000/callback/1',
    'of another scheme': 'https://127.0.0.1:4000/callback/1',
    'of another path': 'http://127.0.0.1:4000/callbacks',
    'above the path': 'http://127.0.0.1:4000/callback/../admin',
    'above the path, encoded': 'http://127.0.0.1:4000/callback/%2e%2e%2fadmin',
    'above the path, with a backslash': 'http://127.0.0.1:4000/callback\\..\\admin',
    'with a user': 'http://user@127.0.0.1:4000/callback/1',
    'of a host that only begins so': 'http://127.0.0.1:4000@example.com/callback/1',
    'of a file': 'file:///etc/passwd',
    'that is none': 'callback',
    'that is no text': 1,
    'of 3000 characters': `http://127.0.0.1:4000/callback/${'x'.repeat(3000)}`,
  };
  for (const [what, callbackUrl] of Object.entries(refused))
    it(`is refused ${what}`, () => {
      const problem = read({ callbackUrl });
      assert.ok(typeof problem === 'string');
      assert.match(problem, /^extensions\.subscription\.callbackUrl (?:must be|is not allowed)/);
    });
});

describe('extensions.subscription', () => {
  it('is read with each of its members, and 5 s between heartbeats if it names none', () => {
    assert.deepEqual(read({ heartbeatIntervalMs: undefined }), {
      url: new URL(EXTENSION.callbackUrl),
      id: '1',
      verifier: 'secret',
      heartbeatMs: 5000,
    });
  });

  const refused: Readonly<Record<string, readonly unknown[]>> = {
    subscriptionId: ['', 1, 'x'.repeat(129)],
    verifier: ['', null, 'x'.repeat(1025)],
    heartbeatIntervalMs: [-1, 1, 999, 1000.5, '5000', 2 ** 31],
  };
  for (const [member, values] of Object.entries(refused))
    it(`is refused for a ${member} that cannot be used, which the text names`, () => {
      for (const value of values) {
        const problem = read({ [member]: value });
        assert.ok(typeof problem === 'string');
        assert.match(problem, new RegExp(`^extensions\\.subscription\\.${member} must be `));
      }
    });
});
