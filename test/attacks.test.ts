import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import ts from 'typescript';
import type { Node, ObjectLiteralExpression } from 'typescript';

/** What a hostile client, token, page or producer sends. The title of a test that shows the outcome ends with the id. */
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
  'S-66': 'a record with the key __proto__',
  'S-67': 'a record with keys that become __proto__ in snake_case',
  'S-68': 'a record with keys that every object inherits: constructor, toString',
  'S-70': 'a record with two keys that have one name in snake_case',
  'S-71': 'a record of 10,000 levels',
  'S-72': 'a record of a million keys or 10 MB',
  'S-73': 'a million records with new keys each',
  'S-75': 'keys that are data, such as e-mail addresses',
  'S-76': 'a record that is not UTF-8, and a batch that inflates from 10 MB to 10 GB',
  'S-77': 'a record header of 1 MB',
  'S-78': 'a record of one tenant with the key of another',
  'S-98': 'a claim or a trace context that adds headers to the record of a mutation',
  'S-99': 'a mutation with an input that is larger than a record may be',
  'S-100': 'a producer that makes up the ids of schemas',
  'S-101': 'a schema registry that answers with megabytes, another address, or schemas that refer to each other',
  'S-102': 'a producer that fills a topic with records that nobody can decode',
};

/** The list at the end of a title, such as `(S-13, S-14)`. */
const IDS = /\(((?:S-\d{2,3}(?:, )?)+)\)$/;
const TESTS = ['it', 'describe'];

/** Ids in the titles of tests that run. A title is the first argument of `it` or `describe`, or the name of a row of a table. */
function provedIds(source: string): Set<string> {
  const ids = new Set<string>();
  const add = (text: string) =>
    IDS.exec(text)?.[1]
      ?.split(', ')
      .forEach((id) => ids.add(id));
  const visit = (node: Node) => {
    if (isSkipped(node)) return;
    if ((ts.isStringLiteralLike(node) || ts.isTemplateTail(node)) && isTitle(node)) add(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('a.ts', source, ts.ScriptTarget.Latest, true));
  return ids;
}

/** `it.skip`, `describe.todo`, and a test or a row with the option `skip` or `todo`. */
function isSkipped(node: Node): boolean {
  if (ts.isObjectLiteralExpression(node)) return hasSkip(node);
  if (!ts.isCallExpression(node)) return false;
  const { expression, arguments: given } = node;
  if (ts.isPropertyAccessExpression(expression)) {
    return TESTS.includes(expression.expression.getText()) && ['skip', 'todo'].includes(expression.name.text);
  }
  return TESTS.includes(expression.getText()) && given.some((one) => ts.isObjectLiteralExpression(one) && hasSkip(one));
}

function hasSkip({ properties }: ObjectLiteralExpression): boolean {
  return properties.some(({ name }) => ['skip', 'todo'].includes(name?.getText() ?? ''));
}

function isTitle(text: Node): boolean {
  let node = text;
  let { parent } = text;
  if (ts.isTemplateSpan(parent)) [node, parent] = [parent.parent, parent.parent.parent];
  if (ts.isCallExpression(parent)) return parent.arguments[0] === node && TESTS.includes(parent.expression.getText());
  if (ts.isPropertyAssignment(parent)) return parent.name === node || ['title', 'name'].includes(parent.name.getText());
  return ts.isArrayLiteralExpression(parent) && parent.elements[0] === node;
}

function provedByFiles(): Set<string> {
  const files = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && name !== 'attacks.test.ts',
  );
  const sources = files.map((name) => readFileSync(join('test', name), 'utf8')).filter((text) => text.includes('(S-'));
  return new Set(sources.flatMap((text) => [...provedIds(text)]));
}

describe('the attacks of the list', () => {
  const proved = provedByFiles();

  it('each have a test with their id in its title', () => {
    assert.deepEqual(
      Object.entries(ATTACKS).filter(([id]) => !proved.has(id)),
      [],
    );
  });

  it('are those that titles name, up to S-78', () => {
    assert.deepEqual(
      [...proved].filter((id) => id <= 'S-78' && !Object.hasOwn(ATTACKS, id)),
      [],
    );
  });

  it('are proved by titles of tests and of rows, not by other strings, comments and skipped tests', () => {
    const proves = (source: string) => [...provedIds(source)].join();
    assert.equal(proves("it('refuses it (S-01, S-02)', run)"), 'S-01,S-02');
    assert.equal(proves('describe(`refuses ${what} (S-01)`, run)'), 'S-01');
    assert.equal(proves("const rows = [{ title: 'refuses it (S-01)', run }, ['refuses it (S-02)', run]]"), 'S-01,S-02');
    assert.equal(proves("const rows = { 'refuses it (S-01)': run }"), 'S-01');
    for (const other of [
      "// it('refuses it (S-01)', run)",
      "it('refuses it', () => assert.ok(true, 'refuses it (S-01)'))",
      "const text = 'refuses it (S-01)'",
      "it.skip('refuses it (S-01)', run)",
      "describe.todo('all', () => { it('refuses it (S-01)', run) })",
      "it('refuses it (S-01)', { skip: true }, run)",
      "const rows = [{ title: 'refuses it (S-01)', skip: true }]",
      "it('refuses it (S-01) seldom', run)",
      "it('accepts it (twin of S-01)', run)",
    ])
      assert.equal(proves(other), '', other);
  });
});
