import {
  GraphQLError,
  GraphQLSchema,
  Kind,
  OperationTypeNode,
  Source,
  buildASTSchema,
  concatAST,
  parse,
  validateSchema,
} from 'graphql';
import type { DefinitionNode, DocumentNode } from 'graphql';
import { validateSDL } from 'graphql/validation/validate.js';
import { GraphError } from '../../errors.ts';
import { ACCESS_DIRECTIVES } from '../access/access-directives.ts';
import { PUBLISH_DIRECTIVE } from '../publishing/publish-directive.ts';
import { CRIER_DIRECTIVE } from './crier-directive.ts';
import { KAFKA_DIRECTIVE } from './kafka-directive.ts';
import { RECORD_DIRECTIVE } from './record-directive.ts';
import { STATE_DIRECTIVE } from '../state/state-directive.ts';
import { REDIS_DIRECTIVE } from './redis-directive.ts';

const OWN_NAMES = [
  'crier',
  'kafka',
  'KafkaKeys',
  'kafkaPublish',
  'state',
  'KafkaPublishKeys',
  'KafkaMatch',
  'KafkaWhere',
  'KafkaFormat',
  'KafkaOperator',
  'KafkaHistory',
  'KafkaRecord',
  'KafkaReplay',
  'KafkaState',
  'KafkaTombstone',
  'record',
  'KafkaRecordField',
  'redis',
  'authenticated',
  'requiresScopes',
];

/**
 * Builds the schema of an SDL with crier's additions: the definitions of its directives (`OWN_NAMES`), which replace
 * definitions that the SDL holds for editors, and a Query type if there is none, because GraphQL requires one.
 *
 * @returns the schema, and one line per mistake that did not prevent the build
 * @throws GraphError for a syntax error, and for mistakes that prevent the build
 */
export function buildGraphSchema(text: string, fileName: string): { schema: GraphQLSchema; problems: string[] } {
  const document = complete(parseSdl(text, fileName));
  const problems = validateSDL(document).map(problemLine);
  try {
    const schema = buildASTSchema(document, { assumeValidSDL: true });
    problems.push(...validateSchema(schema).map(problemLine));
    if (!schema.getSubscriptionType()) {
      problems.push(
        `${fileName}: has no Subscription type, so there is nothing to subscribe to; add one with a @kafka field`,
      );
    }
    return { schema, problems };
  } catch (error) {
    throw new GraphError(problems.length > 0 ? problems.join('\n') : `${fileName}: ${(error as Error).message}`);
  }
}

/** The schema that clients see: without crier's directives and their types. */
export function withoutOwnDefinitions(schema: GraphQLSchema): GraphQLSchema {
  const config = schema.toConfig();
  return new GraphQLSchema({
    ...config,
    types: config.types.filter((type) => !OWN_NAMES.includes(type.name)),
    directives: config.directives.filter((directive) => !OWN_NAMES.includes(directive.name)),
  });
}

function parseSdl(text: string, fileName: string): DocumentNode {
  try {
    return parse(new Source(text, fileName));
  } catch (error) {
    if (error instanceof GraphQLError) throw new GraphError(problemLine(error));
    throw error;
  }
}

function problemLine(error: GraphQLError): string {
  const line = error.locations?.[0]?.line;
  const file = error.source?.name ?? error.nodes?.[0]?.loc?.source.name ?? 'schema.graphql';
  const message = error.message.replace(ACCESS_MISPLACED, `$1${ACCESS_MEND}`);
  return `${file}${line === undefined ? '' : `:${line}`}: ${message}`;
}

/** Message of graphql-js for one of the access directives on a union, an argument or an input type. */
const ACCESS_MISPLACED = /^(Directive "@(?:authenticated|requiresScopes)" may not be used on \w+)\.$/;
const ACCESS_MEND = '; put it on a field, an object type, an interface, a scalar or an enum';

function complete(sdl: DocumentNode): DocumentNode {
  const own = parse(
    CRIER_DIRECTIVE +
      PUBLISH_DIRECTIVE +
      KAFKA_DIRECTIVE +
      RECORD_DIRECTIVE +
      REDIS_DIRECTIVE +
      STATE_DIRECTIVE +
      ACCESS_DIRECTIVES,
    {
      noLocation: true,
    },
  );
  const definitions = sdl.definitions.filter((definition) => !isOwn(definition));
  return concatAST([{ ...sdl, definitions }, own, ...queryTypeFor(definitions)]);
}

function isOwn(definition: DefinitionNode): boolean {
  return (
    (definition.kind === Kind.DIRECTIVE_DEFINITION ||
      definition.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION ||
      definition.kind === Kind.ENUM_TYPE_DEFINITION) &&
    OWN_NAMES.includes(definition.name.value)
  );
}

function queryTypeFor(definitions: readonly DefinitionNode[]): DocumentNode[] {
  const roots = definitions.filter(
    (definition) => definition.kind === Kind.SCHEMA_DEFINITION || definition.kind === Kind.SCHEMA_EXTENSION,
  );
  const operationTypes = roots.flatMap((definition) => definition.operationTypes ?? []);
  const isNamed = operationTypes.some((type) => type.operation === OperationTypeNode.QUERY);
  const hasType = definitions.some(
    (definition) => definition.kind === Kind.OBJECT_TYPE_DEFINITION && definition.name.value === 'Query',
  );
  const additions: string[] = [];
  if (!isNamed && !hasType)
    additions.push('type Query { "Always \\"crier\\": GraphQL demands a Query type." crier: String! }');
  if (!isNamed && roots.length > 0) additions.push('extend schema { query: Query }');
  return additions.map((addition) => parse(addition, { noLocation: true }));
}
