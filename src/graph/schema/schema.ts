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
import type {
  DefinitionNode,
  DocumentNode,
  OperationTypeDefinitionNode,
  SchemaDefinitionNode,
  SchemaExtensionNode,
} from 'graphql';
import { validateSDL } from 'graphql/validation/validate.js';
import { didYouMean } from '../../base/did-you-mean.ts';
import { GraphError } from '../../base/errors.ts';
import { incrementalDirectives } from '../documents/incremental-directives.ts';
import { readFederationLink } from '../federation/federation-link.ts';
import type { FederationLink } from '../federation/federation-link.ts';
import type { Subgraph } from '../federation/entities.ts';
import {
  federationAdditions,
  hiddenDirectives,
  hiddenTypes,
  isFederationDefinition,
  subgraphSdl,
  withBases,
} from '../federation/subgraph.ts';
import { coerceDefaults } from '../graphql-version.ts';
import { OWN_DIRECTIVES } from './own-directives.ts';
import { defaultProblems } from './default-values.ts';
import { sdlProblems } from './sdl-problem.ts';
import { syntaxProblem } from './syntax-problem.ts';

const OWN = parse(OWN_DIRECTIVES, { noLocation: true });
const OWN_NAMES = OWN.definitions.flatMap((definition) =>
  'name' in definition && definition.name ? [definition.name.value] : [],
);

/** Values that a graph adds to enums of crier's. */
type OwnValues = Partial<Readonly<Record<'KafkaFormat' | 'KafkaEnvelope', readonly string[]>>>;

export interface GraphSchema {
  readonly schema: GraphQLSchema;
  /** One line per mistake that did not prevent the build. */
  readonly problems: string[];
  /** undefined: the SDL does not link federation. */
  readonly subgraph: Subgraph | undefined;
}

/**
 * Builds the schema of an SDL with crier's additions: the definitions of its directives (`OWN`), which replace
 * definitions that the SDL holds for editors, a Query type if there is none, because GraphQL requires one, and what federation
 * defines, if the SDL links it.
 *
 * @param own names of formats and envelopes that the graph brings
 * @throws GraphError for a syntax error, and for mistakes that prevent the build
 */
export function buildGraphSchema(text: string, fileName: string, own: OwnValues = {}): GraphSchema {
  const sdl = parseSdl(text, fileName);
  const problems: string[] = [];
  const link = readFederationLink(sdl, problems);
  const authored = sdl.definitions.filter(
    (definition) => !isOwn(definition) && !(link && isFederationDefinition(link, definition)),
  );
  const document = complete({ ...sdl, definitions: link ? withBases(authored) : authored }, link, own);
  problems.push(...sdlProblems(validateSDL(document), { link, document }));
  try {
    const schema = buildASTSchema(document, { assumeValidSDL: true });
    coerceDefaults(schema);
    problems.push(...sdlProblems(validateSchema(schema), { link, document }), ...defaultProblems(schema));
    if (!schema.getSubscriptionType()) {
      const near = Object.keys(schema.getTypeMap()).find((name) => didYouMean('Subscription', [name]) !== '');
      const fix = near === undefined ? 'add one with a @kafka field' : `rename the type "${near}" to Subscription`;
      problems.push(`${fileName}: has no Subscription type, so there is nothing to subscribe to; ${fix}`);
    }
    const internal = new Set(OWN_NAMES.filter((name) => !link?.shared.has(name)));
    return { schema, problems, subgraph: link && { link, sdl: subgraphSdl(authored, internal) } };
  } catch (error) {
    throw new GraphError(problems.length > 0 ? problems.join('\n') : `${fileName}: ${(error as Error).message}`);
  }
}

/** The schema that clients see: without crier's and federation's directives and their types, with `@defer` and `@stream`. */
export function withoutOwnDefinitions(schema: GraphQLSchema, subgraph?: Subgraph): GraphQLSchema {
  const config = schema.toConfig();
  const types = [...OWN_NAMES, ...(subgraph ? hiddenTypes(subgraph.link) : [])];
  const directives = [...OWN_NAMES, ...(subgraph ? hiddenDirectives(subgraph.link) : [])];
  const shown = config.directives.filter((directive) => !directives.includes(directive.name));
  return new GraphQLSchema({
    ...config,
    types: config.types.filter((type) => !types.includes(type.name)),
    directives: [...shown, ...incrementalDirectives(shown)],
  });
}

function parseSdl(text: string, fileName: string): DocumentNode {
  if (text.replaceAll(/#.*/g, '').trim() === '') {
    throw new GraphError(
      `${fileName}: is empty; add a Subscription type: type Subscription { order: Order @kafka(topic: "orders") }`,
    );
  }
  try {
    return parse(new Source(text, fileName));
  } catch (error) {
    if (error instanceof GraphQLError) throw new GraphError(syntaxProblem(error, true));
    throw error;
  }
}

function complete(sdl: DocumentNode, link: FederationLink | undefined, own: OwnValues): DocumentNode {
  const { definitions } = sdl;
  const additions = queryTypeFor(definitions);
  for (const [name, values] of Object.entries(own))
    if (values.length > 0) additions.push(`extend enum ${name} { ${values.join(' ')} }`);
  if (link) additions.push(federationAdditions(link, definitions, queryTypeName(definitions)));
  return concatAST([sdl, OWN, ...additions.map((addition) => parse(addition, { noLocation: true }))]);
}

function isOwn(definition: DefinitionNode): boolean {
  return (
    (definition.kind === Kind.DIRECTIVE_DEFINITION ||
      definition.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION ||
      definition.kind === Kind.ENUM_TYPE_DEFINITION ||
      definition.kind === Kind.SCALAR_TYPE_DEFINITION) &&
    OWN_NAMES.includes(definition.name.value)
  );
}

function queryTypeName(definitions: readonly DefinitionNode[]): string {
  return operationTypesOf(definitions).find(isQuery)?.type.name.value ?? 'Query';
}

function queryTypeFor(definitions: readonly DefinitionNode[]): string[] {
  const roots = definitions.filter(isRoot);
  const isNamed = operationTypesOf(definitions).some(isQuery);
  const hasType = definitions.some(
    (definition) => definition.kind === Kind.OBJECT_TYPE_DEFINITION && definition.name.value === 'Query',
  );
  const additions: string[] = [];
  if (!isNamed && !hasType)
    additions.push('type Query { "Always \\"crier\\": GraphQL demands a Query type." crier: String! }');
  if (!isNamed && roots.length > 0) additions.push('extend schema { query: Query }');
  return additions;
}

function operationTypesOf(definitions: readonly DefinitionNode[]): OperationTypeDefinitionNode[] {
  return definitions.filter(isRoot).flatMap(({ operationTypes }) => operationTypes ?? []);
}

function isRoot(definition: DefinitionNode): definition is SchemaDefinitionNode | SchemaExtensionNode {
  return definition.kind === Kind.SCHEMA_DEFINITION || definition.kind === Kind.SCHEMA_EXTENSION;
}

function isQuery({ operation }: OperationTypeDefinitionNode): boolean {
  return operation === OperationTypeNode.QUERY;
}
