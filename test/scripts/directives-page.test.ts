import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { buildASTSchema, concatAST, parse } from 'graphql';
import { validateSDL } from 'graphql/validation/validate.js';
import { parse as parseYaml } from 'yaml';
import { directivesPage } from '../../scripts/directives-page.ts';

const GRAPHS = ['examples/auction', 'examples/orders', 'examples/chat'];

describe('directives.graphql', () => {
  it('has the directives that crier adds to a schema (npm run docs:directives)', () => {
    assert.equal(readFileSync('directives.graphql', 'utf8'), directivesPage());
  });

  for (const graph of GRAPHS) {
    it(`makes ${graph} valid for an editor that reads its graphql.config.yml`, () => {
      const { schema } = parseYaml(readFileSync(join(graph, 'graphql.config.yml'), 'utf8')) as { schema: string[] };
      const documents = schema.map((path) => parse(readFileSync(resolve(graph, path), 'utf8')));
      assert.deepEqual(validateSDL(concatAST(documents)), []);
      assert.ok(buildASTSchema(concatAST(documents)).getDirective('kafka'));
      const alone = validateSDL(documents[0]!).map(({ message }) => message);
      assert.ok(
        alone.some((message) => message.startsWith('Unknown directive')),
        'twin: without the file',
      );
    });
  }
});
