import { Kind, print, visit } from 'graphql';
import type {
  ConstDirectiveNode,
  DefinitionNode,
  DocumentNode,
  InterfaceTypeExtensionNode,
  ObjectTypeExtensionNode,
} from 'graphql';
import { FEDERATION_DIRECTIVES, LINK_DEFINITIONS } from './federation-directives.ts';
import type { FederationLink } from './federation-link.ts';

/** Types of the fields `_service` and `_entities`. */
const FIELD_TYPES: readonly string[] = ['_Any', '_Entity', '_Service'];

/** True for a definition of what federation defines, which an SDL may have for its editor. */
export function isFederationDefinition(link: FederationLink, definition: DefinitionNode): boolean {
  if (!('name' in definition)) return false;
  const name = definition.name?.value ?? '';
  switch (definition.kind) {
    case Kind.DIRECTIVE_DEFINITION:
      return hiddenDirectives(link).includes(name);
    case Kind.SCALAR_TYPE_DEFINITION:
    case Kind.ENUM_TYPE_DEFINITION:
    case Kind.UNION_TYPE_DEFINITION:
    case Kind.OBJECT_TYPE_DEFINITION:
      return hiddenTypes(link).includes(name) || FIELD_TYPES.includes(name);
    default:
      return false;
  }
}

/** Directives that clients do not see. */
export function hiddenDirectives({ directives }: FederationLink): readonly string[] {
  return ['link', ...directives.values()];
}

/** Types that clients do not see. */
export function hiddenTypes({ fieldSet }: FederationLink): readonly string[] {
  return ['link__Import', 'link__Purpose', fieldSet];
}

/** What federation adds to the SDL of a subgraph. `_entities` exists where there is an entity. */
export function federationAdditions(
  link: FederationLink,
  definitions: readonly DefinitionNode[],
  queryType: string,
): string {
  const directives = [...link.directives].map(([name, local]) =>
    `directive @${local}${FEDERATION_DIRECTIVES[name]!}`.replace('FieldSet', link.fieldSet),
  );
  const entities = entityNames(link, definitions);
  const union = entities.length > 0 ? `union _Entity = ${entities.join(' | ')}` : '';
  const field = entities.length > 0 ? '_entities(representations: [_Any!]!): [_Entity]!' : '';
  return `
    ${LINK_DEFINITIONS}
    scalar ${link.fieldSet}
    ${directives.join('\n')}
    type _Service { sdl: String! }
    ${union}
    extend type ${queryType} { _service: _Service! ${field} }`;
}

/** Federation lets a subgraph extend a type that another subgraph defines. graphql-js demands a definition: the first extension becomes it. */
export function withBases(definitions: readonly DefinitionNode[]): DefinitionNode[] {
  const defined = new Set(
    definitions.flatMap((node) =>
      node.kind === Kind.OBJECT_TYPE_DEFINITION || node.kind === Kind.INTERFACE_TYPE_DEFINITION ? node.name.value : [],
    ),
  );
  return definitions.map((node) => {
    if (!isTypeExtension(node) || defined.has(node.name.value)) return node;
    defined.add(node.name.value);
    return node.kind === Kind.OBJECT_TYPE_EXTENSION
      ? { ...node, kind: Kind.OBJECT_TYPE_DEFINITION }
      : { ...node, kind: Kind.INTERFACE_TYPE_DEFINITION };
  });
}

/** The SDL that a router composes: the author's, without directives that are internal. */
export function subgraphSdl(definitions: readonly DefinitionNode[], internal: ReadonlySet<string>): string {
  const document: DocumentNode = visit(
    { kind: Kind.DOCUMENT, definitions },
    { Directive: (node) => (internal.has(node.name.value) ? null : undefined) },
  );
  const isEmpty = (node: DefinitionNode) =>
    node.kind === Kind.SCHEMA_EXTENSION && !node.directives?.length && !node.operationTypes?.length;
  return print({ ...document, definitions: document.definitions.filter((node) => !isEmpty(node)) });
}

/** False for a @key with `resolvable: false`: this subgraph only names the entity. */
export function isResolvable(key: ConstDirectiveNode): boolean {
  const value = key.arguments?.find(({ name }) => name.value === 'resolvable')?.value;
  return value?.kind !== Kind.BOOLEAN || value.value;
}

function entityNames(link: FederationLink, definitions: readonly DefinitionNode[]): string[] {
  const isKey = (node: ConstDirectiveNode) => node.name.value === link.directives.get('key') && isResolvable(node);
  const names = definitions.flatMap((node) =>
    (node.kind === Kind.OBJECT_TYPE_DEFINITION || node.kind === Kind.OBJECT_TYPE_EXTENSION) &&
    node.directives?.some(isKey)
      ? node.name.value
      : [],
  );
  return [...new Set(names)];
}

function isTypeExtension(node: DefinitionNode): node is ObjectTypeExtensionNode | InterfaceTypeExtensionNode {
  return node.kind === Kind.OBJECT_TYPE_EXTENSION || node.kind === Kind.INTERFACE_TYPE_EXTENSION;
}
