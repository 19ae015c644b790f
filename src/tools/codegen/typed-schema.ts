import {
  GraphQLSchema,
  isInterfaceType,
  isObjectType,
  isScalarType,
  isSpecifiedDirective,
  isSpecifiedScalarType,
  parse,
  printSchema,
  visit,
} from 'graphql';
import type { DocumentNode, GraphQLNamedType } from 'graphql';
import { GraphError } from '../../base/errors.ts';
import { readEntity } from '../../graph/federation/entity.ts';
import type { Entity } from '../../graph/federation/entity.ts';
import { RECORD_ENVELOPES } from '../../graph/schema/record-envelope.ts';
import { RECORD_FORMATS } from '../../graph/schema/record-format.ts';
import { buildGraphSchema, withoutOwnDefinitions } from '../../graph/schema/schema.ts';

/** A graph's schema, as types are written for it. */
export interface TypedSchema {
  /** Without what crier and federation add to a schema. */
  readonly document: DocumentNode;
  /** The object types and interfaces, by name. */
  readonly types: ReadonlyMap<string, TypedType>;
  /** Of custom scalars. */
  readonly scalars: readonly string[];
}

export interface TypedType {
  readonly isRoot: boolean;
  /** Fields that a directive fills; they have no resolver. */
  readonly filled: readonly string[];
  /** undefined: the type is no entity of a subgraph. */
  readonly entity: Pick<Entity, 'keys' | 'fields'> | undefined;
}

/** Directives that give a field its value. */
const FILLING = ['record', 'change', 'state', 'kafkaPublish'];
const FEDERATION_TYPES = ['_Any', '_Entity', '_Service'];

/**
 * Reads the SDL of a graph.
 * @throws GraphError with every mistake found, one per line: file, line, reason
 */
export function readTypedSchema(text: string): TypedSchema {
  const { schema, problems, subgraph } = buildGraphSchema(text, 'schema.graphql', {
    KafkaFormat: ownNamesIn(text, 'format', RECORD_FORMATS),
    KafkaEnvelope: ownNamesIn(text, 'envelope', Object.keys(RECORD_ENVELOPES)),
  });
  if (problems.length > 0) throw new GraphError(problems.join('\n'));
  const config = withoutOwnDefinitions(schema, subgraph).toConfig();
  // Those that every schema gets for its clients have no resolvers.
  const directives = config.directives.filter((directive) => directive.astNode ?? isSpecifiedDirective(directive));
  const shown = new GraphQLSchema({ ...config, directives });
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].map(
    (type) => type?.name,
  );
  const named = Object.values(shown.getTypeMap()).filter(({ name }) => isAuthored(name));
  const types = named.flatMap((type): [string, TypedType][] => {
    if (!isObjectType(type) && !isInterfaceType(type)) return [];
    return [
      [
        type.name,
        {
          isRoot: roots.includes(type.name),
          filled: filledFields(type),
          entity: subgraph && readEntity(schema, type, subgraph.link, []),
        },
      ],
    ];
  });
  return {
    document: withoutAdditions(parse(printSchema(shown), { noLocation: true }), schema),
    types: new Map(types),
    scalars: named.filter((type) => isScalarType(type) && !isSpecifiedScalarType(type)).map(({ name }) => name),
  };
}

/** Names of formats or envelopes that the graph may bring: types do not depend on them. */
function ownNamesIn(text: string, argument: string, taken: readonly string[]): string[] {
  const named = Array.from(text.matchAll(new RegExp(`\\b${argument}:\\s*([A-Z][A-Z0-9_]*)`, 'g')), ([, name]) => name!);
  return [...new Set(named)].filter((name) => !taken.includes(name));
}

function isAuthored(name: string): boolean {
  return !name.startsWith('__') && !FEDERATION_TYPES.includes(name);
}

function filledFields(type: GraphQLNamedType): string[] {
  if (!isObjectType(type)) return [];
  return Object.values(type.getFields())
    .filter(({ astNode }) => astNode?.directives?.some(({ name }) => FILLING.includes(name.value)))
    .map(({ name }) => name);
}

/** Without federation's types and fields, and without a Query type that has no field of the author. */
function withoutAdditions(document: DocumentNode, schema: GraphQLSchema): DocumentNode {
  const query = schema.getQueryType()!;
  const fields = new Set(
    Object.values(query.getFields())
      .filter(({ astNode }) => astNode?.loc)
      .map(({ name }) => name),
  );
  return visit(document, {
    ScalarTypeDefinition: ({ name }) => (isAuthored(name.value) ? undefined : null),
    UnionTypeDefinition: ({ name }) => (isAuthored(name.value) ? undefined : null),
    ObjectTypeDefinition: (node) => {
      if (!isAuthored(node.name.value)) return null;
      if (node.name.value !== query.name) return undefined;
      return fields.size === 0 ? null : { ...node, fields: node.fields?.filter(({ name }) => fields.has(name.value)) };
    },
    OperationTypeDefinition: ({ type }) => (type.name.value === query.name && fields.size === 0 ? null : undefined),
  });
}
