import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readConfig } from '../../src/config/config.ts';
import { configRefusal } from '../support/config-refusal.ts';

it('refuses an ADMIN_TOKEN that is too short or cannot be in a header, and does not show it', () => {
  for (const ADMIN_TOKEN of ['hunter2'.repeat(4), `hunter2 ${'x'.repeat(32)}`, `hunter2é${'x'.repeat(32)}`]) {
    const message = configRefusal({ ADMIN_TOKEN });
    assert.match(message, /^ADMIN_TOKEN: expected at least 32 letters, digits or characters of -\._~\+\/ \(RFC 6750\)/);
    assert.doesNotMatch(message, /hunter2/);
  }
});

it('accepts an ADMIN_TOKEN in hexadecimal and in Base64', () => {
  for (const ADMIN_TOKEN of ['0123456789abcdef'.repeat(2), Buffer.alloc(32, 7).toString('base64')])
    assert.equal(readConfig({ ADMIN_TOKEN }).ADMIN_TOKEN, ADMIN_TOKEN);
});
