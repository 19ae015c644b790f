import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { execute, introspectionFromSchema, isObjectType, parse } from 'graphql';
import { GraphError } from '../../../src/base/errors.ts';
import { loadGraph } from '../../../src/graph/loading/load.ts';
import { graphFolder } from '../support/graph-folder.ts';

const SCHEMA = `
type Subscription {
  auction_updated(auction_id: Int!): Auction
    @kafka(topic: "auctions", match: [{ arg: "auction_id", path: "auction.auction_id" }], payload: "auction")
}
type Auction { auction_id: Int title: String seller: Seller }
type Seller { name: String }
`;

async function refusal(t: TestContext, files: Record<string, string>): Promise<string> {
  const folder = await graphFolder(t, files);
  const error: unknown = await loadGraph(folder).then(
    () => assert.fail('the graph was accepted'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof GraphError, String(error));
  assert.ok(!error.message.includes('    at '), 'the message has no stack');
  return error.message;
}

describe('loadGraph', () => {
  it('loads a folder that holds only a schema', async (t) => {
    const folder = await graphFolder(t, { 'schema.graphql': SCHEMA });
    const graph = await loadGraph(folder);
    assert.equal(graph.name, folder.split('/').at(-1));
    assert.deepEqual(graph.bindings.get('auction_updated')?.topics, ['auctions']);
    assert.equal(graph.samples, undefined);
    assert.deepEqual(graph.context, {});
    const result = await execute({
      schema: graph.schema,
      document: parse('subscription { auction_updated(auction_id: 7) { title seller { name } } }'),
      rootValue: { auction: { auction_id: 7, title: 'Lot', seller: null } },
    });
    assert.deepEqual(JSON.parse(JSON.stringify(result)), { data: { auction_updated: { title: 'Lot', seller: null } } });
  });

  it('adds a missing Query type, and hides its own definitions from clients', async (t) => {
    const { schema } = await loadGraph(await graphFolder(t, { 'schema.graphql': SCHEMA }));
    const result = await execute({ schema, document: parse('{ crier }') });
    assert.equal(result.data?.['crier'], 'crier');
    assert.doesNotMatch(JSON.stringify(introspectionFromSchema(schema)), /kafka/i);
  });

  it('accepts an SDL that defines @kafka for its editor, names its roots, and extends them', async (t) => {
    const sdl = `
      directive @kafka(topic: String!, match: [KafkaMatch!], payload: String) on FIELD_DEFINITION
      input KafkaMatch { arg: String! path: String! }
      schema { subscription: Live }
      type Live { a: Int @kafka(topic: "a") }
      extend type Live { b: Int @kafka(topic: "b") }`;
    const graph = await loadGraph(await graphFolder(t, { 'schema.graphql': sdl }));
    assert.deepEqual([...graph.bindings.keys()], ['a', 'b']);
    assert.equal(graph.schema.getQueryType()?.name, 'Query');
  });

  it('compiles TypeScript and JavaScript in place, with imports of each other and of crier’s packages', async (t) => {
    const folder = await graphFolder(t, {
      'schema.graphql': `${SCHEMA} scalar Day extend type Auction { day: Day where: String }`,
      'resolvers.ts': `
        import { GraphQLScalarType } from 'graphql';
        import lodash from 'lodash';
        import type { Unused } from './types.ts';
        import { shout } from './lib/shout.js';
        import { quiet } from './lib/quiet.ts';
        import facts from './facts.json' with { type: 'json' };
        export const Day = new GraphQLScalarType({ name: 'Day', serialize: (value: unknown) => \`day \${String(value)}\` });
        export const Auction = {
          seller: async (auction: { title: string }): Promise<object> => ({ name: shout(lodash.camelCase(auction.title)) + quiet + facts.mark }),
          where: () => import.meta.url,
        };`,
      'types.ts': 'export interface Unused { a: 1 }',
      'lib/shout.ts': 'export const shout = (text: string): string => `${text.toUpperCase()}!`;',
      'lib/quiet.ts': 'export const quiet: string = "…";',
      'facts.json': '{"mark":"?"}',
      'context.js': `export const backends = ['seller']; export function authenticate() { return {}; }`,
      'samples.ts': `export function* records(seed: number) { yield { topic: 'auctions', value: { seed } }; }
        export const operation = 'subscription { auction_updated(auction_id: 1) { title } }';`,
    });
    const graph = await loadGraph(folder);
    const result = await execute({
      schema: graph.schema,
      document: parse('subscription { auction_updated(auction_id: 7) { seller { name } day where } }'),
      rootValue: { auction: { title: 'old clock', day: 1 } },
    });
    assert.deepEqual(JSON.parse(JSON.stringify(result)), {
      data: {
        auction_updated: {
          seller: { name: 'OLDCLOCK!…?' },
          day: 'day 1',
          where: pathToFileURL(join(folder, 'resolvers.ts')).href,
        },
      },
    });
    assert.deepEqual(graph.context.backends, ['seller']);
    assert.equal(typeof graph.context.authenticate, 'function');
    assert.deepEqual([...(graph.samples?.records(5) ?? [])], [{ topic: 'auctions', value: { seed: 5 } }]);
    assert.match(graph.samples?.operation ?? '', /auction_updated/);
  });

  for (const extension of ['ts', 'js', 'mts', 'mjs']) {
    it(`loads modules with the extension .${extension}, and what they import`, async (t) => {
      const graph = await loadGraph(
        await graphFolder(t, {
          'schema.graphql': SCHEMA,
          [`resolvers.${extension}`]: `import { name } from './name.mjs'; export const Auction = { title: () => name };`,
          'name.mts': `export const name: string = 'a name';`,
          [`context.${extension}`]: `export const backends = ['seller'];`,
          [`samples.${extension}`]: `export function* records() { yield { topic: 'auctions', value: {} }; }`,
        }),
      );
      const document = parse('subscription { auction_updated(auction_id: 7) { title } }');
      const result = await execute({ schema: graph.schema, document, rootValue: { auction: {} } });
      assert.deepEqual(JSON.parse(JSON.stringify(result.data)), { auction_updated: { title: 'a name' } });
      assert.deepEqual(graph.context.backends, ['seller']);
      assert.equal([...(graph.samples?.records(1) ?? [])].length, 1);
      assert.deepEqual(graph.warnings, []);
    });
  }

  it('warns of a file that resembles a module and is not loaded', async (t) => {
    const { warnings } = await loadGraph(
      await graphFolder(t, {
        'schema.graphql': SCHEMA,
        'resolver.ts': '',
        'resolvers.cjs': '',
        'Context.ts': '',
        'samples/index.ts': '',
        'auction.resolvers.ts': '',
        'index.ts': '',
        'schema.gql': '',
        'auction-schema.graphql': '',
        'resolvers.test.ts': '',
        'context.d.ts': '',
        'samples.config.js': '',
        'loaders.ts': '',
        'README.md': '',
      }),
    );
    assert.deepEqual(
      warnings.map((warning) => warning.split(' ', 1)[0]),
      [
        ...['Context.ts', 'auction.resolvers.ts', 'index.ts', 'resolver.ts', 'resolvers.cjs', 'samples'],
        ...['auction-schema.graphql', 'schema.gql'],
      ],
    );
    assert.equal(
      warnings.at(-1),
      'schema.gql is not loaded; crier reads schema.graphql alone: move its definitions there',
    );
    assert.equal(
      warnings[3],
      'resolver.ts is not loaded; rename it to resolvers.ts, or to one of: resolvers.js, resolvers.mts, resolvers.mjs',
    );
    assert.equal(warnings[4], warnings[3].replace('resolver.ts is', 'resolvers.cjs is'));
    assert.equal(
      warnings[5],
      'samples is not loaded; crier loads no folder: write samples.ts, which may import its files',
    );
  });

  it('does not warn of imported files, nor of a folder next to the module of its name', async (t) => {
    const { warnings } = await loadGraph(
      await graphFolder(t, {
        'schema.graphql': SCHEMA,
        'resolvers.ts': `import { name } from './resolver.ts'; export const Auction = { title: () => name };`,
        'resolver.ts': `export { name } from './resolvers/name.ts';`,
        'resolvers/name.ts': `export const name: string = 'a name';`,
      }),
    );
    assert.deepEqual(warnings, []);
  });

  it('warns of a context.ts of which nothing is read', async (t) => {
    const warningsOf = async (files: Record<string, string>) =>
      (await loadGraph(await graphFolder(t, { 'schema.graphql': SCHEMA, ...files }))).warnings;
    assert.deepEqual(
      await warningsOf({ 'context.ts': 'export const loaders = { user: 5 };', 'resolvers.ts': 'void Date;' }),
      ['context.ts exports nothing that crier reads; export one of: backends, createLoaders, authenticate'],
    );
    assert.deepEqual(await warningsOf({ 'context.ts': `export const backends = []; export const help = 1;` }), []);
    assert.deepEqual(await warningsOf({ 'samples.json': '{}' }), [
      "samples.json is not loaded; crier loads no JSON: write samples.ts, which may import it with { type: 'json' }",
    ]);
  });

  it('passes on the warnings of bindings', async (t) => {
    const sdl = 'type Subscription { a(page: Int): Int @kafka(topic: "t") }';
    const { warnings } = await loadGraph(await graphFolder(t, { 'schema.graphql': sdl }));
    assert.match(warnings.join('\n'), /^schema\.graphql:1: Subscription\.a: the argument "page" chooses no events/);
  });

  it('compiles Proxy.lazy in a graph outside of crier: a loader is created when it is read', async (t) => {
    const folder = await graphFolder(t, {
      'schema.graphql': SCHEMA,
      'context.ts': `
        const build = (name: string): string => { built.push(name); return name; };
        export const built: string[] = [];
        export const backends = built;
        export const createLoaders = () => Proxy.lazy({ seller: build('seller'), venue: build('venue') });`,
    });
    const { context } = await loadGraph(folder);
    const loaders = context.createLoaders!(undefined as never) as Record<string, string>;
    assert.deepEqual(Object.keys(loaders), ['seller', 'venue']);
    assert.deepEqual(context.backends, [], 'nothing is built yet');
    assert.equal(loaders['venue'], 'venue');
    assert.deepEqual(context.backends, ['venue']);
  });

  it('loads two graphs in one process, each with files of its own', async (t) => {
    const files = (name: string) => ({
      'schema.graphql': SCHEMA,
      'resolvers.ts': `import { name } from './name.ts'; export const Auction = { title: (): string => name };`,
      'name.ts': `export const name: string = '${name}';`,
    });
    const titles = ['one', 'two'].map(async (name) => {
      const { schema } = await loadGraph(await graphFolder(t, files(name)));
      const document = parse('subscription { auction_updated(auction_id: 7) { title } }');
      const result = await execute({ schema, document, rootValue: { auction: {} } });
      return (result.data?.['auction_updated'] as { title: string }).title;
    });
    assert.deepEqual(await Promise.all(titles), ['one', 'two']);
  });

  it('shows the original file and line in stack traces', async (t) => {
    const folder = await graphFolder(t, {
      'schema.graphql': SCHEMA,
      'resolvers.ts': `interface A {\n  b: 1;\n}\n\nexport const Auction = {\n  title(): string {\n    throw new Error('here' as string);\n  },\n};\n`,
    });
    const { schema } = await loadGraph(folder);
    const document = parse('subscription { auction_updated(auction_id: 7) { title } }');
    const result = await execute({ schema, document, rootValue: { auction: {} } });
    assert.match(result.errors?.[0]?.originalError?.stack ?? '', /resolvers\.ts:7:11/);
  });

  it('finds its Babel configuration whatever the working directory', async (t) => {
    const folder = await graphFolder(t, {
      'schema.graphql': SCHEMA,
      'resolvers.ts': 'export const Auction = { title: (): string => "x" };',
    });
    const load = fileURLToPath(new URL('../../../src/graph/loading/load.js', import.meta.url));
    const code = `const { loadGraph } = await import(${JSON.stringify(load)}); console.log((await loadGraph(${JSON.stringify(folder)})).name);`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], { cwd: '/' });
    assert.equal(stdout.trim(), folder.split('/').at(-1));
  });

  it('calls authorize apart, subscribe as graphql-js does, and resolvers with the value at the payload’s path', async (t) => {
    const folder = await graphFolder(t, {
      'schema.graphql': `type Subscription { a: Int @kafka(topic: "a", payload: "x.y") ticks: Int }`,
      'resolvers.js': `export const Subscription = {
        a: { authorize: (args, context) => context.yes, resolve: (value) => value * 2 },
        ticks: { async *subscribe() { yield { ticks: 1 }; } },
      };`,
    });
    const { schema, authorizers, bindings } = await loadGraph(folder);
    assert.deepEqual([...authorizers.keys()], ['a']);
    assert.deepEqual([...bindings.keys()], ['a']);
    assert.equal(typeof schema.getSubscriptionType()?.getFields()['ticks']?.subscribe, 'function');
    const run = async (query: string, rootValue: unknown) => ({
      ...(await execute({ schema, document: parse(query), rootValue })).data,
    });
    assert.deepEqual(await run('subscription { a }', { x: { y: 21 } }), { a: 42 });
    assert.deepEqual(await run('subscription { ticks }', { ticks: 1 }), { ticks: 1 });
  });

  it('imports a graph that was built with crier without compiling it', async (t) => {
    const folder = fileURLToPath(new URL(`./built-in-${process.pid}/`, import.meta.url));
    t.after(() => rm(folder, { recursive: true }));
    await mkdir(folder);
    await writeFile(join(folder, 'schema.graphql'), SCHEMA);
    await writeFile(join(folder, 'resolvers.js'), 'export const Auction = { title: ()  =>  String(Auction.title) };');
    const { schema } = await loadGraph(folder);
    const type = schema.getType('Auction');
    assert.ok(isObjectType(type));
    const text = type.getFields()['title']?.resolve?.({}, {}, {}, {} as never);
    assert.match(String(text), /\(\) {2}=> {2}String/);
  });

  it('names a package that a file of the graph imports, and that is not installed', async (t) => {
    const files = {
      'schema.graphql': SCHEMA,
      'resolvers.ts': `export { Auction } from './lib/auction.ts';`,
      'lib/auction.ts': `import { x } from '@scope/absent/deep'; export const Auction = { title: () => x };`,
    };
    assert.match(
      await refusal(t, files),
      /^lib\/auction\.ts: imports the package "@scope\/absent", which is not installed; run npm install @scope\/absent in \/.*, or correct the import/,
    );
  });

  it('refuses a folder without a schema, and names a file that may be meant', async (t) => {
    assert.match(
      await refusal(t, { 'schema.gql': SCHEMA }),
      /schema\.graphql: not found, but schema\.gql is there; rename it to schema\.graphql$/,
    );
    assert.match(await refusal(t, {}), /schema\.graphql: not found; set GRAPH to a folder that has a schema\.graphql/);
  });

  const schemaMistakes: Record<string, [sdl: string, expected: RegExp]> = {
    'a syntax error': ['type Subscription {\n  a Int\n}', /^schema\.graphql:2:5: Syntax Error: Expected ":"/],
    'a brace that is not closed, before a definition': [
      'type A {\n  a: Int\n\ntype Subscription { b: A @kafka(topic: "t") }\n',
      /^schema\.graphql:4:6: Syntax Error: Expected ":", found Name "Subscription"\. The \{ of line 1 is not closed: add a \}\.\n\n3 \|\s*\n4 \| type Subscription \{/,
    ],
    'a brace that is not closed at the end': [
      'type A { a: Int }\ntype Subscription {\n  b: A @kafka(topic: "t")\n',
      /Syntax Error: .*<EOF>\. The \{ of line 2 is not closed: add a \}\.\n\n3 \|/,
    ],
    'a parenthesis and a bracket that are not closed': [
      'type Subscription {\n  b: Int @kafka(topic: "t", match: [\n}\ntype A { a: Int }\n',
      /^schema\.graphql:3:1: Syntax Error: Unexpected "\}"\. The \[ of line 2 is not closed: add a \]\.\n/,
    ],
    'a mutation that answers null': [
      'type Subscription { a: Int @kafka(topic: "t") }\ntype Mutation {\n  place(id: ID!): Int\n}',
      /^schema\.graphql:3: Mutation\.place: has no resolver, so it would always be null; write export const Mutation = \{ place: .* in resolvers\.ts, add @kafkaPublish\(topic: "…"\), or remove it$/,
    ],
    'a misspelt directive': [
      'type Subscription { a: Int @kakfa(topic: "t") }',
      /^schema\.graphql:1: Unknown directive "@kakfa"; did you mean "@kafka"\?/,
    ],
    'a misspelt type': [
      'type Order { id: ID }\ntype Subscription { a: Ordr @kafka(topic: "t") }',
      /^schema\.graphql:2: Unknown type "Ordr"\. Did you mean "Order"\?/,
    ],
    'an unknown type': [
      'type Subscription {\n a: Nope @kafka(topic: "t")\n}',
      /^schema\.graphql:2: Unknown type "Nope"/,
    ],
    'a second @kafka': [
      'type Subscription {\n a: Int @kafka(topic: "t") @kafka(topic: "u")\n}',
      /^schema\.graphql:2: The directive "@kafka" can only be used once at this location: the first is in line 2; keep one, which may have several topics: topics: \["…", "…"\]$/,
    ],
    'an unknown part of @kafka': [
      'type Subscription { a: Int @kafka(topik: "t", topic: "t") }',
      /Unknown argument "topik".*Did you mean "topic"/,
    ],
    'an empty file': ['# soon\n', /^schema\.graphql: is empty; add a Subscription type: type Subscription \{/],
    'a comment of another language': [
      '// types\ntype Subscription { a: Int }',
      /^schema\.graphql:1:1: Syntax Error: .* A comment begins with #, in each of its lines\.\n/,
    ],
    'a line that ends with ;': [
      'type Subscription {\n  a: Int;\n}',
      /^schema\.graphql:2:9: .* Remove it: no ; ends a line\.\n/,
    ],
    'braces with nothing between them': [
      'type Empty {}\ntype Subscription { a: Int @kafka(topic: "t") }',
      /^schema\.graphql:1:13: Syntax Error: Expected Name, found "\}"\. Nothing is between the \{ and the \}: fill them, or remove both\.\n/,
    ],
    'a mistake in a definition of one line': [
      'type A { a: Int b }',
      /^schema\.graphql:1:19: Syntax Error: Expected ":", found "\}"\.\n/,
    ],
    'a type of another letter case': [
      'type subscription { a: Int @kafka(topic: "t") }',
      /^schema\.graphql: has no Subscription type, so there is nothing to subscribe to; rename the type "subscription" to Subscription$/,
    ],
    'a type twice': [
      'type A { a: Int b: Int }\ntype Subscription { a: A @kafka(topic: "t") }\ntype A { a: Int b: Int }\nenum E { X }\nenum E { X }',
      /^schema\.graphql:3: There can be only one type named "A": the first is in line 1; keep one\nschema\.graphql:5: There can be only one type named "E": the first is in line 4; keep one$/,
    ],
    'an input that a field returns': [
      'input A { a: Int }\ntype Subscription {\n  a: [A!]! @kafka(topic: "t")\n}',
      /^schema\.graphql:3: Subscription\.a is of A, which is an input, and fields return none; define it as type A \{ … \}$/m,
    ],
    'a type that an argument takes': [
      'type A { a: Int }\ntype Subscription {\n  a(\n  of: A): A @kafka(topic: "t", unused: ["of"])\n}',
      /^schema\.graphql:4: Subscription\.a\(of:\) is of A, which only fields return; give it a scalar, an enum or an input: input AInput \{ … \}$/m,
    ],
    'a directive for rights of another server': [
      'type Subscription { a: Int @kafka(topic: "t") @auth(requires: ADMIN) }',
      /^schema\.graphql:1: Unknown directive "@auth"; write @authenticated, or @requiresScopes\(scopes: \[\["…"\]\]\)$/,
    ],
    'a directive of another server': [
      'type Subscription { a: Int @kafka(topic: "t") @cost(value: 1) }',
      /^schema\.graphql:1: Unknown directive "@cost"; define it \(directive @cost on …\), or remove it$/,
    ],
    'a scalar that is not defined': [
      'type Subscription { a: DateTime @kafka(topic: "t") }',
      /^schema\.graphql:1: Unknown type "DateTime"; define it: scalar DateTime for single values, or type DateTime \{ … \} for objects$/,
    ],
    'a member of match outside of it': [
      'type Subscription { a(id: ID!): Int @kafka(topic: "t", key: "id", match: [{ arg: "id", key: true }]) }',
      /^schema\.graphql:1: Unknown argument "key" on directive "@kafka"; write match: \[\{ arg: …, key: … \}\] or record: \{ key: … \}$/,
    ],
    'several topics in topic': [
      'type Subscription { a: Int @kafka(topic: ["a", "b"]) }',
      /Subscription\.a: topic must be the name of a Kafka topic, in quotes; write topics: \["a", "b"\]$/,
    ],
    'a topic without quotes': [
      'type Subscription { a: Int @kafka(topic: orders) }',
      /Subscription\.a: topic must be the name of a Kafka topic, in quotes; write topic: "orders"$/,
    ],
    'a path with an index': [
      'type A { b: [B] }\ntype B { c: Int }\ntype Subscription { a(c: Int): A @kafka(topic: "t", match: [{ arg: "c", path: "b[0].c" }]) }',
      /A has no field "b\[0\]"; a path goes through no list, so it has no index: match a value outside of it$/,
    ],
    'a missing topic': ['type Subscription { a: Int @kafka }', /Subscription\.a: has no topic; add topic/],
    'no Subscription type': ['type Query { a: Int }', /has no Subscription type/],
    'an invalid schema': [
      'type Subscription { a: A @kafka(topic: "t") } interface I { b: Int } type A implements I { c: Int }',
      /Interface field I\.b expected/,
    ],
    'a required argument that chooses no events': [
      'type Subscription {\n a(order_id: ID!): Int @kafka(topic: "t") }',
      /^schema\.graphql:2: Subscription\.a: the argument "order_id" chooses no events/,
    ],
    'a directive that nobody meets': [
      'type Subscription {\n a: Int @kafka(topic: "t") @requiresScopes(scopes: []) }',
      /^schema\.graphql:2: Subscription\.a: @requiresScopes: scopes is empty/,
    ],
    'a binding mistake': [
      'type Subscription { a(x: Int): Int\n @kafka(topic: "t", match: [{ arg: "y", path: "b" }]) }',
      /^schema\.graphql:2: Subscription\.a: .*"y"/,
    ],
  };
  for (const [name, [sdl, expected]] of Object.entries(schemaMistakes)) {
    it(`refuses ${name}`, async (t) => assert.match(await refusal(t, { 'schema.graphql': sdl }), expected));
  }

  it('refuses a schema that is not UTF-8', async (t) => {
    const text = `type Subscription { a: Int @kafka(topic: "t") } # ü`;
    for (const bytes of [
      Buffer.from(text, 'utf16le'),
      Buffer.from(`\uFEFF${text}`, 'utf16le'),
      Buffer.from(text, 'latin1'),
    ]) {
      const folder = await graphFolder(t, {});
      await writeFile(join(folder, 'schema.graphql'), bytes);
      await assert.rejects(loadGraph(folder), {
        message: 'schema.graphql: is not UTF-8; save it as UTF-8 (PowerShell: Out-File -Encoding utf8, in place of >)',
      });
      await writeFile(join(folder, 'schema.graphql'), SCHEMA);
      await writeFile(join(folder, 'resolvers.ts'), bytes);
      if (bytes[1] !== 0x79)
        await assert.rejects(loadGraph(folder), { message: /^resolvers\.ts:1: is not UTF-8; save it/ });
    }
  });

  it('names the file that may be meant as the schema, whatever it is called', async (t) => {
    const cases: readonly (readonly [file: string, expected: RegExp])[] = [
      ['orders.graphql', /but orders\.graphql is there; rename it to schema\.graphql$/],
      ['schema.ts', /but schema\.ts is there; write the SDL that it has into schema\.graphql$/],
      ['typeDefs.js', /but typeDefs\.js is there; write the SDL that it has into schema\.graphql$/],
    ];
    for (const [file, expected] of cases) assert.match(await refusal(t, { [file]: SCHEMA }), expected);
  });

  const resolverMistakes: Record<string, [code: string, expected: RegExp]> = {
    'a syntax error in resolvers, with its frame': [
      'export const a = 1;\nconst b = ;',
      /^resolvers\.ts:2: Unexpected token[^]*> 2 \|/,
    ],
    'an import that leads nowhere': [
      '\nimport { a } from "./nowhere";\nexport { a };',
      /^resolvers\.ts:2: imports "\.\/nowhere", which does not exist; write the file's name with its extension$/,
    ],
    'an import of a file that is away': [
      'import data from "./data.json" with { type: "json" };\nexport { data };',
      /^resolvers\.ts:1: imports "\.\/data\.json", which does not exist; correct the path, or add the file$/,
    ],
    'an import of a misspelt file': [
      'import "./resolver.ts";',
      /^resolvers\.ts:1: imports "\.\/resolver\.ts", which does not exist; did you mean "resolvers\.ts"\?$/,
    ],
    'module.exports': [
      'module.exports = {};',
      /^resolvers\.ts:1: module\.exports is of CommonJS, and modules of a graph are ES modules; write export const Auction = \{ … \} instead; resolvers\.ts could not be loaded$/,
    ],
    'exports of CommonJS': ['exports.Auction = {};', /: exports is of CommonJS.*; write export const Auction = /],
    'require()': [
      'const fs = require("node:fs");',
      /: require is of CommonJS.*; write import … from instead of require\(\); resolvers/,
    ],
    'resolvers of several types in one export': [
      'export const resolvers = { Day: {}, Auction: {} };',
      /resolvers\.ts: exports "resolvers", which is not a type of the schema; export its members: export const Day = /,
    ],
    'a helper': [
      'export const price = 1;',
      /exports "price", which is not a type of the schema; move helpers to another/,
    ],
    'a default export of types': ['export default { Color: {} };', /default export; .*: export const Color = \{ … \}$/],
    'a package that nobody has': [
      'import "no-such-package-here";',
      /^resolvers\.ts: imports the package "no-such-package-here", which is not installed; run npm install no-such-package-here in \/\S+, or correct the import$/,
    ],
    'an alias of tsconfig.json': [
      'import { u } from "@/util";\nexport const Auction = { title: u };',
      /^resolvers\.ts: imports "@\/util", which is no package; write a relative path, such as \.\/util\.ts: paths of tsconfig\.json are not read$/,
    ],
    'a type that is imported as a value': [
      '\nimport { Title } from "./lib.ts";\nexport const Auction = { title: (): Title => "" };',
      /^resolvers\.ts:2: imports "Title" from "\.\/lib\.ts", which is a type there; write import type \{ Title \}$/,
    ],
    'a name that a file does not export': [
      'import { titles, u } from "./lib.ts";\nexport const Auction = { title: () => u };',
      /^resolvers\.ts:1: imports "titles" from "\.\/lib\.ts", which does not export it; did you mean "title"\?$/,
    ],
    'a default that a file does not export': [
      'export { default } from "./lib.ts";',
      /^resolvers\.ts:1: imports "default" from "\.\/lib\.ts", which does not export it; it exports: title, u$/,
    ],
    'JSON without its type': [
      'import data from "./value.json";\nexport const Auction = { title: () => data };',
      /^resolvers\.ts:1: imports "\.\/value\.json" without its type; write with \{ type: 'json' \} after the file's name$/,
    ],
    'a throw at load': ['\n\nthrow new Error("boom");', /^resolvers\.ts:3: boom; resolvers\.ts could not be loaded/],
    'resolvers of an unknown type': [
      'export const Auktion = {};',
      /resolvers\.ts: exports "Auktion", which is not a type.*did you mean "Auction"\?/,
    ],
    'resolvers of an unknown field': [
      'export const Auction = { titel() {} };',
      /Auction\.titel is not a field.*did you mean "title"\?/,
    ],
    'a field that is inherited': [
      'export const Auction = { constructor() {} };',
      /Auction\.constructor is not a field/,
    ],
    'a resolver that is no function': ['export const Auction = { title: 5 };', /Auction\.title must be a function/],
    'a default export': [
      'export default {};',
      /default export; export one constant for each type instead: export const Auction = /,
    ],
    'a scalar without its type': ['export const Day = {};', /Day is a scalar; export a GraphQLScalarType/],
    'a built-in scalar': ['export const Int = {};', /Int is built into GraphQL/],
    'resolvers of an enum': ['export const Color = { RED: 1 };', /Color is an enum, which has nothing to resolve/],
    'field resolvers of an interface': [
      'export const Node = { id() {} };',
      /Node\.id: an interface or union has only __resolveType/,
    ],
    'an unknown part': [
      'export const Subscription = { auction_updated: { autorize() {} } };',
      /no part "autorize"; did you mean "authorize"\?/,
    ],
    'a source for a bound field': [
      'export const Subscription = { auction_updated: { subscribe() {} } };',
      /schema\.graphql:\d+: Subscription\.auction_updated: has both @kafka and a `subscribe`/,
    ],
  };
  for (const [name, [code, expected]] of Object.entries(resolverMistakes)) {
    it(`refuses ${name}`, async (t) => {
      const sdl = `${SCHEMA} scalar Day enum Color { RED } interface Node { id: ID }`;
      const lib = 'export type Title = string;\nexport const title = 1;\nexport function u() {}';
      const files = { 'schema.graphql': sdl, 'resolvers.ts': code, 'lib.ts': lib, 'value.json': '{}' };
      assert.match(await refusal(t, files), expected);
    });
  }

  const moduleMistakes: Record<string, [files: Record<string, string>, expected: RegExp]> = {
    'a file twice': [
      { 'resolvers.ts': '', 'resolvers.js': '' },
      /resolvers\.ts and resolvers\.js both exist; keep one/,
    ],
    'a module with two extensions': [
      { 'context.mts': '', 'context.mjs': '' },
      /context\.mts and context\.mjs both exist; keep one/,
    ],
    'a near miss in context': [
      { 'context.ts': 'export function createLoader() {}' },
      /context\.ts: exports "createLoader".*did you mean "createLoaders"/,
    ],
    'backends that are no list': [
      { 'context.ts': 'export const backends = "seller";' },
      /backends must be a list of names/,
    ],
    'samples without records': [
      { 'samples.ts': 'export const operation = "{ crier }";' },
      /samples\.ts: needs records/,
    ],
    'samples that are async': [
      { 'samples.ts': 'export async function* records() {}' },
      /^samples\.ts: records must not be async; write export function\* records\(seed\) that yields \{ topic, value \}$/,
    ],
    'a sample operation that is invalid': [
      { 'samples.ts': 'export function* records() {}\nexport const operation = "{ nope }";' },
      /samples\.ts: operation: Cannot query field "nope"/,
    ],
  };
  it('says what records() of the samples must return', async (t) => {
    const files = { 'schema.graphql': SCHEMA, 'samples.ts': 'export const records = () => undefined;' };
    const { samples } = await loadGraph(await graphFolder(t, files));
    assert.throws(() => samples!.records(1), {
      message:
        'samples.ts: records() returns no iterable; write export function* records(seed) that yields { topic, value }',
    });
  });

  for (const [name, [files, expected]] of Object.entries(moduleMistakes)) {
    it(`refuses ${name}`, async (t) =>
      assert.match(await refusal(t, { 'schema.graphql': SCHEMA, ...files }), expected));
  }

  it('names the mistakes of all files at once', async (t) => {
    const message = await refusal(t, {
      'schema.graphql': 'type Subscription { a: Int b: Int @kafka(topic: "") }',
      'resolvers.ts': 'export const Auction = {};',
      'context.ts': 'export const authenticate = 5;',
    });
    assert.equal(message.split('\n').length, 4, message);
  });
});
