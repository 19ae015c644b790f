import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { partsDemands } from '../../../src/graph/parts-demands.ts';
import { parseBindings } from '../../../src/graph/schema/bindings.ts';
import { buildGraphSchema } from '../../../src/graph/schema/schema.ts';

function parse(rules: string, args = '') {
  const sdl = `type Subscription {\n  a${args}: Item\n    @kafka(topic: "t", ${rules}) }\ntype Item { id: ID n: Int }`;
  const { schema, problems } = buildGraphSchema(sdl, 'schema.graphql');
  const parsed = parseBindings(schema, new Set());
  return { ...parsed, problems: [...problems, ...parsed.problems] };
}

function paceOf(rules: string, args?: string) {
  const { bindings, problems, warnings } = parse(rules, args);
  assert.deepEqual([...problems, ...warnings], []);
  return bindings.get('a')!.pace;
}

const problemOf = (rules: string, args?: string) => parse(rules, args).problems.join('\n');

describe('the pace of a @kafka', () => {
  it('is an interval, which an argument may lengthen', () => {
    assert.deepEqual(paceOf('pace: { ms: 250 }'), { ms: 250, keepsSlow: false, isOfChannel: false });
    assert.deepEqual(paceOf('pace: { ms: 10, keep: LATEST, arg: "every_ms" }', '(every_ms: Int)'), {
      ms: 10,
      arg: 'every_ms',
      keepsSlow: false,
      isOfChannel: false,
    });
    assert.equal(paceOf('pace: { ms: 60000, arg: "every" }, slow: LATEST', '(every: Int! = 60000)')!.ms, 60_000);
    assert.deepEqual(paceOf('slow: LATEST'), { ms: 0, keepsSlow: true, isOfChannel: false });
    assert.equal(paceOf('slow: CLOSE'), undefined);
    assert.equal(paceOf('history: {}'), undefined);
  });

  it('is of the channel where it is the state of the values that each subscription gives, or of the key', () => {
    const match = (arg: string, rule: string) => [`match: [{ arg: "id", ${rule} }], pace: { ms: 250 }`, `(id: ${arg})`];
    const isOfChannel = ([rules, args]: string[], more = '') => paceOf(rules! + more, args)!.isOfChannel;
    assert.equal(isOfChannel(match('ID!', 'path: "id"')), false);
    assert.equal(isOfChannel(match('ID!', 'path: "id"'), ', state: {}'), true);
    assert.equal(isOfChannel(match('ID', 'path: "id"'), ', state: {}'), false);
    assert.equal(isOfChannel(match('ID!', 'key: true')), true);
    assert.equal(isOfChannel(match('ID', 'key: true')), false);
    assert.equal(paceOf('pace: { ms: 250 }, state: {}')!.isOfChannel, false);
  });

  it('lets messages carry what tells keys apart, only where channels do not', () => {
    const demandOf = (rules: string, args = '') => partsDemands(parse(rules, args).bindings.values()).get('t');
    assert.equal(demandOf('match: [{ arg: "id", key: true }], pace: { ms: 250 }', '(id: ID!)'), undefined);
    assert.deepEqual(demandOf('pace: { ms: 250 }'), { key: false, headers: [], id: true });
    assert.deepEqual(demandOf('slow: LATEST, record: { key: true }'), { key: true, headers: [], id: true });
  });

  const ARGS = '(every_ms: Int, id: ID, n: Int = 20)';
  const mistakes: readonly (readonly [rules: string, problem: RegExp])[] = [
    [
      'pace: { ms: 9 }',
      /schema\.graphql|line 3|:3.*Subscription\.a: pace\.ms must be a whole number of ms, 10 to 60000, without quotes/,
    ],
    ['pace: { ms: 60001 }', /pace\.ms must be a whole number of ms, 10 to 60000/],
    ['pace: { ms: "250" }', /pace\.ms|Int cannot represent/],
    ['pace: { ms: 250, keep: OLDEST }', /LATEST/],
    ['pace: { ms: 250, every: 3 }', /"every"/],
    [
      'pace: { ms: 250, arg: "evry_ms" }',
      /pace\.arg names the argument "evry_ms", which the field does not have.*every_ms/,
    ],
    ['pace: { ms: 250, arg: "id" }', /pace\.arg names the argument "id" of type ID; make it Int/],
    ['pace: { ms: 250, arg: "n" }', /the argument "n" is 20 by default, but pace allows 250 to 60000/],
    [
      'pace: { ms: 250, arg: "n" }, match: [{ arg: "n", path: "n" }]',
      /pace\.arg names the argument "n", which match or where uses; remove it from one of them/,
    ],
    ['pace: { ms: 250, arg: "n" }, unused: ["n"]', /unused names the argument "n"|by default/],
    ['slow: NEWEST', /LATEST/],
    ['pace: { ms: 250 }, envelope: OUTBOX', /pace with envelope: OUTBOX: each row of an outbox is an event of its own/],
    ['slow: LATEST, envelope: OUTBOX', /slow: LATEST with envelope: OUTBOX/],
  ];
  for (const [rules, problem] of mistakes)
    it(`refuses ${rules}`, () =>
      assert.match(problemOf(`${rules}, unused: []`.replace(/(unused: \["n"\]), unused: \[\]/, '$1'), ARGS), problem));
});
