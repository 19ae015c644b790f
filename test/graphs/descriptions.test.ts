import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parse, visit } from 'graphql';
import type { ASTVisitor } from 'graphql';

/** SDL of the graphs that a newcomer sees first, by file. */
const SCHEMAS = new Map([
  ...['examples/auction', 'examples/orders', 'examples/chat'].map((folder) => sdlOf(`${folder}/schema.graphql`)),
  ...['examples/express', 'examples/fastify'].map((folder) => sdlOf(`${folder}/graph.js`, /schema: `([^`]+)`/)),
]);

function sdlOf(path: string, pattern = /([^]*)/): [string, string] {
  return [path, pattern.exec(readFileSync(path, 'utf8'))![1]!];
}

/** Types, their fields and the values of enums that have no description. */
function undescribed(sdl: string): string[] {
  const found: string[] = [];
  let type = '';
  const check = (name: string, description: unknown) => description ?? found.push(name);
  const enterType = (node: { name: { value: string }; description?: unknown }) => {
    type = node.name.value;
    check(type, node.description);
  };
  const enterMember = (node: { name: { value: string }; description?: unknown }) => {
    check(`${type}.${node.name.value}`, node.description);
  };
  const visitor: ASTVisitor = {
    ScalarTypeDefinition: enterType,
    ObjectTypeDefinition: enterType,
    InterfaceTypeDefinition: enterType,
    UnionTypeDefinition: enterType,
    EnumTypeDefinition: enterType,
    InputObjectTypeDefinition: enterType,
    FieldDefinition: enterMember,
    EnumValueDefinition: enterMember,
  };
  visit(parse(sdl), visitor);
  return found;
}

describe('the schemas that are shown first', () => {
  for (const [path, sdl] of SCHEMAS) {
    it(`describe every type, field and enum value in ${path}`, () => assert.deepEqual(undescribed(sdl), []));
  }

  it('are refused with the names of what has no description (twin)', () => {
    assert.deepEqual(undescribed('type A { b: Int "c" c: Int } enum D { E }'), ['A', 'A.b', 'D', 'D.E']);
  });
});
