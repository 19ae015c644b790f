import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GraphQLError, execute, parse, versionInfo } from 'graphql';
import { maskErrors } from '../../../src/graph/execution/error-mask.ts';
import { loadGraph } from '../../../src/graph/loading/load.ts';
import { graphFolder } from '../support/graph-folder.ts';

/** The package has its code twice, as CommonJS and as ES modules: of the two, that which crier does not import. */
const OTHER_COPY = import.meta
  .resolve('graphql')
  .replace(/index\.m?js$/, (file) => (file === 'index.js' ? 'index.mjs' : 'index.js'));

/** A graph whose package "money" imports a copy of graphql of its own. */
const GRAPH = {
  'schema.graphql': `
    type Query { price(of: Money): Money }
    type Subscription { sold: Money @kafka(topic: "sales") }
    scalar Money`,
  'resolvers.js': `
    import { Money, soldOut } from 'money';
    export { Money };
    export const Query = { price: (_, { of }) => (of === 0 ? soldOut() : of) };`,
  'node_modules/money/package.json':
    '{ "name": "money", "version": "1.0.0", "type": "module", "exports": "./index.js" }',
  'node_modules/money/index.js': `
    import { GraphQLError, GraphQLScalarType } from 'graphql';
    export { GraphQLError };
    export const soldOut = () => { throw new GraphQLError('Sold out', { extensions: { code: 'SOLD_OUT' } }); };
    export const Money = new GraphQLScalarType({
      name: 'Money',
      serialize: (value) => value + ' EUR',
      parseValue: (value) => {
        if (typeof value === 'number') return value;
        throw new GraphQLError('Money is a number');
      },
    });`,
};
const COPY = {
  'node_modules/graphql/package.json':
    '{ "name": "graphql", "version": "16.99.0", "type": "module", "main": "index.js" }',
  'node_modules/graphql/index.js': `export * from ${JSON.stringify(OTHER_COPY)};`,
};

describe('a graph whose packages have a copy of graphql of their own', () => {
  it('is named at the start, with the fix', async (t) => {
    const { warnings } = await loadGraph(await graphFolder(t, { ...GRAPH, ...COPY }));
    assert.equal(warnings.length, 1, warnings.join('\n'));
    assert.match(
      warnings[0]!,
      /^there are two copies of graphql: \d+\.\d+\.\d+ of crier, .* 16\.99\.0 of the packages/,
    );
    assert.match(warnings[0]!, new RegExp(`run npm install graphql@${versionInfo.major}\\.\\S+ where`));
  });

  it('has its errors and scalars recognised', async (t) => {
    const folder = await graphFolder(t, { ...GRAPH, ...COPY });
    const { GraphQLError: OtherError } = (await import(`${folder}/node_modules/money/index.js`)) as {
      GraphQLError: typeof GraphQLError;
    };
    assert.ok(!(new OtherError('') instanceof GraphQLError));
    const { schema } = await loadGraph(folder);
    const run = async (variables: Record<string, unknown>) => {
      const document = parse('query ($of: Money) { price(of: $of) }');
      const result = await execute({ schema, document, variableValues: variables });
      return maskErrors(result, (error) => assert.fail(String(error)));
    };
    assert.deepEqual({ ...(await run({ of: 5 })).data }, { price: '5 EUR' });
    const [soldOut] = (await run({ of: 0 })).errors!;
    assert.deepEqual([soldOut!.message, soldOut!.extensions], ['Sold out', { code: 'SOLD_OUT' }]);
    assert.match((await run({ of: 'x' })).errors![0]!.message, /Money is a number/);
  });
});
