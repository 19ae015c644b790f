import { Kind, getNamedType, isInterfaceType, isIntrospectionType, isObjectType } from 'graphql';
import type {
  ConstDirectiveNode,
  ConstValueNode,
  GraphQLField,
  GraphQLNamedType,
  GraphQLObjectType,
  GraphQLSchema,
} from 'graphql';
import { lineOf } from '../schema/problem.ts';
import { AccessRule, nameOf } from './access-rule.ts';
import type { ScopeSets } from './access-rule.ts';

export interface AccessRules {
  /** For fields of object types: what must be met to read, or subscribe to, the field. */
  readonly fields: ReadonlyMap<GraphQLField<unknown, unknown>, AccessRule>;
  /** For values of an interface or union, whose type is known at run time: what must be met to see one of this type. */
  readonly types: ReadonlyMap<GraphQLObjectType, AccessRule>;
  /** One line for each directive that cannot work: file, line, coordinate, reason and fix. */
  readonly problems: readonly string[];
}

/**
 * Reads @authenticated and @requiresScopes. All that apply must be met:
 * - of a field: its own, those of its type, and those of the same field of its object's interfaces; for a field of Query, Mutation or
 *   Subscription those of that type, too, because no field returns it
 * - of an object type: its own and those of its interfaces
 */
export function parseAccessRules(schema: GraphQLSchema): AccessRules {
  const reader = new DirectiveReader();
  const fields = new Map<GraphQLField<unknown, unknown>, AccessRule>();
  const types = new Map<GraphQLObjectType, AccessRule>();
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  for (const type of Object.values(schema.getTypeMap())) {
    if (isIntrospectionType(type)) continue;
    const ofType = reader.ofType(type);
    if (isInterfaceType(type)) for (const field of Object.values(type.getFields())) reader.ofField(type, field);
    if (!isObjectType(type)) continue;
    addRule(types, type, ofType);
    for (const field of Object.values(type.getFields())) {
      const interfaces = type.getInterfaces().flatMap((parent) => {
        const inherited = parent.getFields()[field.name];
        return inherited ? reader.ofField(parent, inherited) : [];
      });
      addRule(fields, field, [
        ...reader.ofField(type, field),
        ...interfaces,
        ...reader.ofType(getNamedType(field.type)),
        ...(roots.includes(type) ? ofType : []),
      ]);
    }
  }
  return { fields, types, problems: reader.problems };

  function addRule<Key>(rules: Map<Key, AccessRule>, key: Key, demands: readonly ScopeSets[]): void {
    if (demands.length > 0) rules.set(key, reader.ruleOf(demands));
  }
}

class DirectiveReader {
  readonly problems: string[] = [];
  readonly #rules = new Map<string, AccessRule>();
  /** By coordinate of the schema. */
  readonly #read = new Map<string, readonly ScopeSets[]>();

  /** One rule for all equal demands: executions that read it read the same. */
  ruleOf(demands: readonly ScopeSets[]): AccessRule {
    const name = nameOf(demands);
    const rule = this.#rules.get(name) ?? new AccessRule(demands);
    this.#rules.set(name, rule);
    return rule;
  }

  ofType(type: GraphQLNamedType): readonly ScopeSets[] {
    // An object type names all of its interfaces, those of its interfaces included.
    const interfaces = isObjectType(type) || isInterfaceType(type) ? type.getInterfaces() : [];
    return [type, ...interfaces].flatMap((one) => {
      const nodes = [one.astNode, ...one.extensionASTNodes].flatMap((node) => node?.directives ?? []);
      return this.#demandsOf(one.name, nodes);
    });
  }

  ofField(type: GraphQLNamedType, field: GraphQLField<unknown, unknown>): readonly ScopeSets[] {
    return this.#demandsOf(`${type.name}.${field.name}`, field.astNode?.directives ?? []);
  }

  #demandsOf(coordinate: string, nodes: readonly ConstDirectiveNode[]): readonly ScopeSets[] {
    const known = this.#read.get(coordinate);
    if (known) return known;
    const demands = nodes.flatMap((node): ScopeSets[] => {
      if (node.name.value === 'authenticated') return [[[]]];
      if (node.name.value !== 'requiresScopes') return [];
      const scopes = node.arguments?.find(({ name }) => name.value === 'scopes')?.value;
      const problem = scopes && problemOf(scopes);
      if (problem !== undefined) this.problems.push(`${lineOf(node)}${coordinate}: @requiresScopes: ${problem}`);
      return scopes && problem === undefined ? [scopeSetsOf(scopes)] : [];
    });
    this.#read.set(coordinate, demands);
    return demands;
  }
}

/** Why these scopes cannot be demanded. The SDL would make [["a"], ["b"]] of ["a", "b"], which its author may mean as both. */
function problemOf(node: ConstValueNode): string | undefined {
  const example = '[["read:orders"]]';
  if (node.kind !== Kind.LIST || node.values.some(({ kind }) => kind !== Kind.LIST)) {
    return `scopes must be a list of lists, such as ${example}: one inner list must be met, with all of its scopes`;
  }
  if (node.values.length === 0) return `scopes is empty, so nobody could pass; name a scope, such as ${example}`;
  for (const set of node.values) {
    const items = set.kind === Kind.LIST ? set.values : [];
    if (items.length === 0) return 'an empty list of scopes is met by everybody; remove it, or use @authenticated';
    for (const item of items) {
      if (item.kind !== Kind.STRING) return `each scope must be a string in quotes, such as ${example}`;
      if (/^\S+$/.test(item.value)) continue;
      return `the scope ${JSON.stringify(item.value)} can never be granted, because scopes have no spaces; write one string for each scope`;
    }
  }
  return undefined;
}

/** @param node without a problem */
function scopeSetsOf(node: ConstValueNode): ScopeSets {
  const valuesOf = (list: ConstValueNode) => (list.kind === Kind.LIST ? list.values : []);
  return valuesOf(node).map((set) => valuesOf(set).map((item) => (item.kind === Kind.STRING ? item.value : '')));
}
