import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Source, buildSchema } from 'graphql';
import { plainChannelsFor } from '../../../src/graph/plain-channels.ts';
import { parseBindings } from '../../../src/graph/schema/bindings.ts';
import { KAFKA_DIRECTIVE } from '../../../src/graph/schema/kafka-directive.ts';
import { parseRedisBindings, prefixProblems } from '../../../src/graph/schema/redis-binding.ts';
import { REDIS_DIRECTIVE } from '../../../src/graph/schema/redis-directive.ts';
import { ENVIRONMENT_NAMES } from '../../../src/config/setting-names.ts';

const TYPES =
  'type Query { q: Int } type Typing { user: ID } enum Mood { GLAD SAD } input Filter { id: ID } scalar Day';

function schemaWith(fields: string, types = '') {
  const sdl = `type Subscription {\n${fields}\n}\n${types}${TYPES}${KAFKA_DIRECTIVE}${REDIS_DIRECTIVE}`;
  return buildSchema(new Source(sdl, 'schema.graphql'));
}

const parse = (fields: string, customSources: string[] = []) =>
  parseRedisBindings(schemaWith(fields), new Set(customSources));

function problemOf(fields: string, customSources: string[] = []): string {
  const { problems } = parse(fields, customSources);
  assert.equal(problems.length, 1, problems.join('\n'));
  return problems[0]!;
}

/** The channel, or the message of a refusal, of the first field. */
function channelWith(fields: string, args: Record<string, unknown>): string {
  const { bindings, problems } = parse(fields);
  assert.deepEqual(problems, []);
  const channels = plainChannelsFor([...bindings.values()][0]!, args);
  return 'errors' in channels ? channels.errors[0]!.message : channels[0];
}

describe('@redis', () => {
  it('reads channel, payload, shared and unused', () => {
    const { bindings, problems, warnings } = parse(
      'typing(room: ID!, since: Int): Typing @redis(channel: "typing.{room}", payload: "user", shared: false, unused: ["since"])',
    );
    assert.deepEqual([problems, warnings], [[], []]);
    assert.deepEqual(bindings.get('typing'), {
      field: 'typing',
      template: { source: 'typing.{room}', parts: [{ text: 'typing.' }, { arg: 'room' }], separators: '.' },
      separators: '.',
      payload: ['user'],
      isShared: false,
      location: 'schema.graphql:2: Subscription.typing',
    });
  });

  it('inserts scalars and enums as text', () => {
    const field =
      'f(a: ID!, b: Int!, c: Boolean!, d: Mood!, e: Day!): Int @redis(channel: "t:{a}:{b}:{c}:{d}:{e}:end")';
    const args = { a: 'Küche', b: 7, c: true, d: 'GLAD', e: '2026-01-01' };
    assert.equal(channelWith(field, args), 't:Küche:7:true:GLAD:2026-01-01:end');
  });

  it('needs no argument', () => {
    assert.equal(channelWith('news: Int @redis(channel: "news")', {}), 'news');
  });

  it('accepts only one source of a field', () => {
    assert.equal(
      problemOf('a: Int @redis(channel: "a")', ['a']),
      'schema.graphql:2: Subscription.a: has both @redis and a `subscribe` in resolvers; keep one',
    );
    const fields = 'a: Int @redis(channel: "a") @kafka(topic: "a")';
    assert.match(problemOf(fields), /Subscription.a: has both @redis and @kafka; keep one$/);
    assert.deepEqual(parseBindings(schemaWith(fields), new Set()).problems, []);
  });

  it('is refused on a field of another type', () => {
    const { problems } = parseRedisBindings(
      schemaWith('a: Int @redis(channel: "a")', 'type Other { b: Int @redis(channel: "b") }\n'),
      new Set(),
    );
    assert.deepEqual(problems, [
      'schema.graphql:4: Other.b: @redis feeds only fields of the Subscription type; remove it here',
    ]);
  });

  const mistakes: readonly (readonly [title: string, field: string, problem: RegExp])[] = [
    ['an empty channel', 'a: Int @redis(channel: "")', /channel is empty; name a Redis channel/],
    [
      'a channel that is no text',
      'a: Int @redis(channel: 7)',
      /channel must be the name of a Redis channel, in quotes/,
    ],
    ['a space', 'a: Int @redis(channel: "a b")', /has a space or a control character/],
    ['a lone brace', 'a: Int @redis(channel: "a.{")', /has a brace that belongs to no \{argument\}/],
    ['a name that is no name', 'a(x: ID!): Int @redis(channel: "a.{x-y}")', /has a brace that belongs to no/],
    [
      'an unknown argument',
      'a(room: ID!): Int @redis(channel: "a.{rom}", unused: ["room"])',
      /names the argument "rom", which the field does not have; did you mean "room"\?/,
    ],
    [
      'a nullable argument',
      'a(x: ID): Int @redis(channel: "a.{x}")',
      /"x", which may be left out; make it non-null: x: ID!/,
    ],
    ['a list', 'a(x: [ID!]!): Int @redis(channel: "a.{x}")', /"x" of type \[ID!\]!, which is no single value/],
    ['an input object', 'a(x: Filter!): Int @redis(channel: "a.{x}")', /"x" of type Filter!, which is no single value/],
    [
      'no text before an argument',
      'a(x: ID!): Int @redis(channel: "{x}.a")',
      /\{x\} must stand between separators .*"a.\{x\}"/,
    ],
    [
      'no separator before an argument',
      'a(x: ID!): Int @redis(channel: "a{x}")',
      /\{x\} must stand between separators/,
    ],
    [
      'no separator after an argument',
      'a(x: ID!): Int @redis(channel: "a.{x}b")',
      /\{x\} must stand between separators/,
    ],
    [
      'a required argument without a use',
      'a(x: ID!): Int @redis(channel: "a")',
      /chooses no events.*write \{x\} in channel, give/,
    ],
    [
      'an unused argument that is used',
      'a(x: ID!): Int @redis(channel: "a.{x}", unused: ["x"])',
      /unused names the argument "x", which channel uses/,
    ],
  ];
  for (const [title, field, problem] of mistakes) {
    it(`refuses ${title}`, () => assert.match(problemOf(field), problem));
  }

  it('refuses adjacent arguments once for each', () => {
    const { problems } = parse('a(x: ID!, y: ID!): Int @redis(channel: "a.{x}{y}")');
    assert.equal(problems.length, 2);
  });
});

describe('a value in a channel', () => {
  const field = 'a(x: ID!, y: ID!): Int @redis(channel: "a.{x}:{y}")';

  for (const [title, value] of [
    ['holds a separator', 'b.c'],
    ['holds a separator of another argument', 'b:c'],
    ['is empty', ''],
    ['is no well-formed text', '\ud800'],
    ['is an object', {}],
    ['is not finite', Infinity],
  ] as const) {
    it(`refuses the subscription if it ${title}`, () => {
      const message = 'The argument "x" must be a text without ".", ":", and not empty';
      assert.equal(channelWith(field, { x: value, y: 'y' }), message);
    });
  }

  it('must not hold a separator of another field of the schema', () => {
    const fields = `a(x: ID!): Int @redis(channel: "a.{x}")\n b(x: ID!, y: ID!): Int @redis(channel: "a.{x}:{y}")`;
    assert.match(channelWith(fields, { x: 'b:c' }), /must be a text without "\.", ":"/);
  });

  it('is refused as an input error', () => {
    const refusal = plainChannelsFor(parse(field).bindings.get('a')!, { x: 'b.c', y: '' });
    assert.ok('errors' in refusal);
    assert.deepEqual(refusal.errors[0]!.extensions, { code: 'BAD_USER_INPUT' });
  });
});

describe('two channels of a schema', () => {
  it('may be one, for two views of it', () => {
    const { problems } = parse(
      'a(x: ID!): Int @redis(channel: "a.{x}")\n b(y: ID!): Int @redis(channel: "a.{y}", payload: "b")',
    );
    assert.deepEqual(problems, []);
  });

  it('are refused if an argument of one can be a text of the other', () => {
    assert.equal(
      problemOf('room(id: ID!): Int @redis(channel: "room.{id}")\n lobby: Int @redis(channel: "room.lobby")'),
      'schema.graphql:3: Subscription.lobby: channel "room.lobby" and that of room ("room.{id}") can both be "room.lobby"; begin them with different texts',
    );
    const crossed = 'a(x: ID!): Int @redis(channel: "a.{x}.b")\n b(y: ID!): Int @redis(channel: "a.c.{y}")';
    assert.match(problemOf(crossed), /can both be "a\.c\.b"/);
  });

  it('are accepted if they differ in a text or in the number of words', () => {
    const { problems } = parse(`
      a(x: ID!): Int @redis(channel: "a.{x}")
      b(x: ID!): Int @redis(channel: "b.{x}")
      c(x: ID!, y: ID!): Int @redis(channel: "a.{x}.{y}")
      d(x: ID!): Int @redis(channel: "a.{x}:typing")
      e: Int @redis(channel: "a.")
      f: Int @redis(channel: "a")
    `);
    assert.deepEqual(problems, []);
  });
});

describe('CHANNEL_PREFIX', () => {
  const problemsOf = (channel: string, prefix: string) => {
    const args = channel.includes('{') ? '(x: ID!)' : '';
    const config = { CHANNEL_PREFIX: prefix, names: ENVIRONMENT_NAMES };
    return prefixProblems(parse(`a${args}: Int @redis(channel: "${channel}")`).bindings.values(), config);
  };

  it('stops the start if a channel could begin with it', () => {
    for (const [channel, prefix] of [
      ['crier:{x}', 'crier:'],
      ['crier:control', 'crier:'],
      ['crier.{x}', 'crier.eu:'],
      ['a.{x}', ''],
      ['a', ''],
    ] as const) {
      assert.equal(problemsOf(channel, prefix).length, 1, `${channel} ${prefix}`);
    }
    assert.equal(
      problemsOf('crier:{x}', 'crier:')[0],
      'schema.graphql:2: Subscription.a: channel "crier:{x}" could be one of crier\'s own, which begin with CHANNEL_PREFIX ("crier:"); begin it with another text, or set another CHANNEL_PREFIX',
    );
  });

  it('allows any other channel', () => {
    for (const [channel, prefix] of [
      ['typing.{x}', 'crier:'],
      ['crier.{x}', 'crier:'],
      ['crier', 'crier:'],
    ] as const) {
      assert.deepEqual(problemsOf(channel, prefix), [], `${channel} ${prefix}`);
    }
  });
});
