import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseRedisUrl } from '../../../src/config/addresses/redis-address.ts';
import { ConfigError } from '../../../src/base/errors.ts';

/** What ioredis is given for one server or for Sentinels. */
function optionsOf(url: string) {
  const address = parseRedisUrl(url);
  assert.notEqual(address.kind, 'cluster');
  return address.kind === 'cluster' ? undefined : address.target;
}

describe('REDIS_URL', () => {
  it('names one server, with a user, a database and TLS', () => {
    assert.deepEqual(optionsOf('redis://h'), { label: 'h:6379', options: { host: 'h', port: 6379 } });
    assert.deepEqual(optionsOf('rediss://app:p%40ss@h:7000/3?family=6'), {
      label: 'h:7000',
      options: { host: 'h', port: 7000, username: 'app', password: 'p@ss', db: 3, family: 6, tls: {} },
    });
    assert.deepEqual(optionsOf('redis://:word@[::1]:7000?db=2'), {
      label: '[::1]:7000',
      options: { host: '::1', port: 7000, password: 'word', db: 2 },
    });
  });

  it('names Sentinels and their primary', () => {
    assert.deepEqual(optionsOf('redis+sentinel://:word@a,b:7000/mymaster/1?sentinelPassword=other'), {
      label: 'mymaster',
      options: {
        password: 'word',
        db: 1,
        name: 'mymaster',
        sentinels: [
          { host: 'a', port: 26_379 },
          { host: 'b', port: 7000 },
        ],
        sentinelPassword: 'other',
      },
    });
    const { options } = optionsOf('rediss+sentinel://a/mymaster')!;
    assert.deepEqual([options.tls, options.sentinelTLS, options.enableTLSForSentinelMode], [{}, {}, true]);
  });

  it('may have a password of the Sentinels with an @', () => {
    const { options } = optionsOf('redis+sentinel://a/mymaster?sentinelPassword=o@her')!;
    assert.equal(options.sentinelPassword, 'o@her');
  });

  it('names nodes of a Redis Cluster', () => {
    const address = parseRedisUrl('rediss+cluster://app:word@a:7000, b');
    assert.ok(address.kind === 'cluster');
    assert.deepEqual(address.seeds, [
      { host: 'a', port: 7000 },
      { host: 'b', port: 6379 },
    ]);
    assert.deepEqual(address.targetOf({ host: 'c', port: 1 }), {
      label: 'c:1',
      options: { host: 'c', port: 1, username: 'app', password: 'word', tls: {} },
    });
  });

  for (const [url, reason] of [
    ['http://u:secret@h', /expected redis:\/\/host:6379/],
    ['redis://u:secret@h:port', /expected host:port/],
    ['redis://u:secret@[::1', /expected host:port/],
    ['redis://u:secret@h:70000', /expected host:port/],
    ['/tmp/redis.sock', /expected redis:\/\//],
    ['6379', /expected redis:\/\//],
    ['redis://u:secret@a,b', /expected one server, or redis\+cluster:\/\//],
    ['redis://u:secret@a:1,redis://b:1', /names several servers.*redis\+cluster:\/\//],
    ['redis+cluster://u:secret@a:1,a:1', /expected different hosts among a:1, a:1/],
    ['redis+cluster://u:secret@a/2', /a Redis Cluster has one database/],
    ['redis+sentinel://u:secret@a', /expected the name of the primary/],
    ['redis://u:secret@h?keyPrefix=x:', /keyPrefix.*use CHANNEL_PREFIX/],
    ['redis://u:secret@h?password=secret', /unknown parameters password; it may have db, family/],
    ['redis://u:secret@h/name', /expected a number for the database/],
    ['redis://u:secret%zz@h', /a % that begins no escape; percent-encode user and password/],
    // The host would be named by a part of the user or of the password.
    ['redis://u:8@secret@h', /expected one @ .*; percent-encode user and password/],
    ['redis://u:8/secret@h', /expected one @ .*; percent-encode user and password/],
    ['redis://u:pa/secret#@h', /expected one @ .*; percent-encode user and password/],
    ['redis://u:8/a?secret@h', /expected one @ .*; percent-encode user and password/],
    ['redis+sentinel://u:8/secret@h:26379/name', /expected one @ .*; percent-encode user and password/],
    ['redis+cluster://u:8@secret@h', /expected one @ .*; percent-encode user and password/],
  ] as const) {
    it(`refuses ${url.replace('u:secret@', '')}, without a password in the message`, () => {
      assert.throws(
        () => parseRedisUrl(url),
        (error: Error) => {
          assert.ok(error instanceof ConfigError);
          assert.match(error.message, /^REDIS_URL: /);
          assert.match(error.message, reason);
          assert.doesNotMatch(error.message, /secret/);
          return true;
        },
      );
    });
  }
});
