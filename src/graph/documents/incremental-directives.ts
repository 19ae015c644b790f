import {
  DirectiveLocation,
  GraphQLBoolean,
  GraphQLDirective,
  GraphQLInt,
  GraphQLNonNull,
  GraphQLString,
  visit,
} from 'graphql';
import type { DocumentNode, GraphQLSchema } from 'graphql';

const CONDITION = {
  if: { type: new GraphQLNonNull(GraphQLBoolean), defaultValue: true },
  label: { type: GraphQLString },
};

/**
 * `@defer` and `@stream`, which clients may send: a server may deliver at once what they name, and crier does.
 * https://github.com/graphql/defer-stream-wg
 */
const DIRECTIVES: readonly GraphQLDirective[] = [
  new GraphQLDirective({
    name: 'defer',
    description: 'Accepted, and delivered with the rest.',
    locations: [DirectiveLocation.FRAGMENT_SPREAD, DirectiveLocation.INLINE_FRAGMENT],
    args: CONDITION,
  }),
  new GraphQLDirective({
    name: 'stream',
    description: 'Accepted, and delivered with the rest.',
    locations: [DirectiveLocation.FIELD],
    args: { ...CONDITION, initialCount: { type: new GraphQLNonNull(GraphQLInt), defaultValue: 0 } },
  }),
];

/** Those that a schema does not define itself. */
export function incrementalDirectives(defined: readonly GraphQLDirective[]): readonly GraphQLDirective[] {
  return DIRECTIVES.filter(({ name }) => !defined.some((directive) => directive.name === name));
}

/** The document without crier's `@defer` and `@stream`. @param query its text */
export function withoutIncremental(schema: GraphQLSchema, document: DocumentNode, query: string): DocumentNode {
  const names = DIRECTIVES.filter((one) => query.includes(one.name) && schema.getDirective(one.name) === one).map(
    ({ name }) => name,
  );
  if (names.length === 0) return document;
  return visit(document, { Directive: ({ name }) => (names.includes(name.value) ? null : undefined) });
}
