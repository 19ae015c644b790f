import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';

/** What a hostile client, token or page sends. The title of a test that shows what becomes of it ends with the id. */
const ATTACKS: Readonly<Record<string, string>> = {
  'S-01': 'a page of another origin opens a WebSocket with the cookie of its visitor',
  'S-02': 'an origin that resembles an allowed one: its prefix, suffix, scheme, port, or null',
  'S-03': 'a cookie without an Origin',
  'S-06': '2,000 request headers',
  'S-07': 'an upgrade on /healthz, /metrics or another path',
  'S-08': '5,000 sockets that send a byte of a header each 10 s',
  'S-09': 'request smuggling: Content-Length beside Transfer-Encoding',
  'S-10': 'X-Forwarded-For from a peer that is no trusted proxy',
  'S-11': 'no connection_init',
  'S-13': 'a forged token: alg none, HS256 with the public key, a path as kid, 250 unknown kids',
  'S-14': 'a token that is expired, not valid yet, or of another audience or issuer',
  'S-15': 'a token that expires while its connection is subscribed',
  'S-16': 'a user who was signed out, on sockets of all pods',
  'S-17': 'a cursor of another user, or a forged one',
  'S-18': 'a second connection_init with the token of another user',
  'S-20': 'a token in the URL',
  'S-21': '1,000 refused connection_init a minute of one address',
  'S-22': 'one socket of a user or an address too many',
  'S-23': 'a message of one byte too many',
  'S-24': 'the header of a frame of 100 MB',
  'S-26': 'a message in 10,000 empty fragments',
  'S-27': 'an offer of permessage-deflate, for a message that inflates to megabytes',
  'S-28': 'a secret beside text of the attacker in one deflated message',
  'S-29': 'the 101st operation of a socket',
  'S-30': '1,000 subscribes in one segment',
  'S-31': '1,000 subscribes and completes a second',
  'S-32': 'pings with a payload of 60 KB, 100 a second',
  'S-33': 'ids of 60 KB',
  'S-34': 'a text frame that is not UTF-8',
  'S-35': 'reserved bits, an unmasked frame, a reserved opcode',
  'S-37': 'numbers that no double has',
  'S-38': 'a document of 10,000 levels',
  'S-39': 'a document that repeats a field thousands of times',
  'S-40': 'thousands of aliases of __typename',
  'S-41': 'a thousand directives',
  'S-42': 'fragments that each spread the next one twice',
  'S-44': 'a cycle of fragments',
  'S-46': 'introspection over the WebSocket, aliased and in fragments',
  'S-47': 'a misspelt name, to be told the right one',
  'S-48': 'a document that is not trusted',
  'S-49': 'a document with the hash of another',
  'S-51': 'a subscription with two root fields, or with @skip on one',
  'S-52': 'a mutation over the WebSocket',
  'S-53': '10,000 different documents',
  'S-54': "code in a string literal, behind the marker of graphql-jit's generator",
  'S-55': 'a variable with the name of an argument that chooses the events',
  'S-56': 'a document as an object instead of text',
  'S-57': 'the document and the variables of another user, whose result could be shared',
  'S-58': 'variables that resemble those of another user',
  'S-60': 'a user whose role changes while results are shared',
  'S-61': 'an error with the data of another user in its extensions',
  'S-62': 'a loader that another user has filled',
  'S-64': '100,000 different variables of one user, each a channel',
};

/** Ids in the titles of tests: in strings, not in comments. */
function provedIds(): Set<string> {
  const files = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && name !== 'attacks.test.ts',
  );
  const ids = files.flatMap((name) =>
    Array.from(read(name).matchAll(/['"`][^\n]*\(((?:S-\d\d(?:, )?)+)\)['"`]/g), ([, list]) => list!.split(', ')),
  );
  return new Set(ids.flat());
}

function read(name: string): string {
  return readFileSync(join('test', name), 'utf8');
}

describe('the attacks of the list', () => {
  const proved = provedIds();

  it('each have a test with their id in its title', () => {
    assert.deepEqual(
      Object.entries(ATTACKS).filter(([id]) => !proved.has(id)),
      [],
    );
  });

  it('are those that titles name, up to S-65', () => {
    assert.deepEqual(
      [...proved].filter((id) => id <= 'S-65' && !Object.hasOwn(ATTACKS, id)),
      [],
    );
  });
});
