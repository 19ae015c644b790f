import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from 'graphql';
import { OWN_DIRECTIVES } from '../../../src/graph/schema/own-directives.ts';
import { buildGraphSchema, withoutOwnDefinitions } from '../../../src/graph/schema/schema.ts';

const own = parse(OWN_DIRECTIVES).definitions.map(
  (definition) => ('name' in definition && definition.name?.value) || '',
);

describe('the definitions of crier', () => {
  it('are in the schema of a graph, also if its SDL has them for editors, and hidden from clients', () => {
    const sdl = `${OWN_DIRECTIVES} type Subscription { tick: Int @kafka(topic: "t") }`;
    const { schema, problems } = buildGraphSchema(sdl, 'schema.graphql');
    assert.deepEqual(problems, []);
    const seen = withoutOwnDefinitions(schema);
    for (const name of own) {
      assert.ok(schema.getType(name) ?? schema.getDirective(name), name);
      assert.equal(seen.getType(name) ?? seen.getDirective(name) ?? undefined, undefined, name);
    }
  });
});
