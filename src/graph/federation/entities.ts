import { isInterfaceType, isObjectType } from 'graphql';
import type { GraphQLAbstractType, GraphQLResolveInfo, GraphQLSchema } from 'graphql';
import type { ExecutionContext } from '../context/context.ts';
import { clientError } from '../../base/errors.ts';
import { asError } from '../execution/list-items.ts';
import { typeNameResolver } from '../execution/type-name-resolver.ts';
import { isThenable } from '../thenable.ts';
import { readEntity } from './entity.ts';
import type { Entity } from './entity.ts';
import type { FederationLink } from './federation-link.ts';
import { coercedFields, hasFieldSet } from './field-set.ts';
import { referenceResolverOf } from './reference-resolver.ts';

/** A schema that links federation. */
export interface Subgraph {
  readonly link: FederationLink;
  /** What a router composes. */
  readonly sdl: string;
}

/**
 * Gives `_service` and `_entities` their resolvers. They are fields of Query like others: access rules, limits and masking of errors
 * hold for them.
 *
 * @param schema with resolvers attached
 * @param subgraph undefined: the schema does not link federation
 * @returns one line for each mistake in the directives of federation, and for each `__resolveReference` that would never be called
 */
export function attachEntities(schema: GraphQLSchema, subgraph: Subgraph | undefined): string[] {
  const problems: string[] = [];
  const entities = new Map<string, Entity>();
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    const entity = subgraph && readEntity(schema, type, subgraph.link, problems);
    if (entity) entities.set(type.name, entity);
    else if (referenceResolverOf(type)) problems.push(`${type.name}.__resolveReference: ${uncalled(subgraph)}`);
  }
  if (!subgraph) return problems;
  const { _service: service, _entities: field } = schema.getQueryType()!.getFields();
  if (service) service.resolve = () => ({ sdl: subgraph.sdl });
  const union = schema.getType('_Entity') as GraphQLAbstractType | undefined;
  if (!field || !union) return problems;
  const references = new References(schema, entities);
  union.resolveType = (value) => references.typeNameOf(value as object);
  field.resolve = (_query, { representations }, context, info) =>
    (representations as readonly unknown[]).map((one) => references.resolve(one, context as ExecutionContext, info));
  return problems;
}

function uncalled(subgraph: Subgraph | undefined): string {
  if (subgraph) return 'the type has no @key that this subgraph resolves, so nothing calls it; add @key(fields: "…")';
  return 'the schema does not link federation, so nothing calls it; add extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key"])';
}

/** Resolves the representations that routers send. */
class References {
  readonly #entities: ReadonlyMap<string, Entity>;
  readonly #interfaces: ReadonlyMap<string, ReturnType<typeof typeNameResolver>>;
  /** By entity: the name of its object type. */
  readonly #typeNames = new WeakMap<object, string>();

  constructor(schema: GraphQLSchema, entities: ReadonlyMap<string, Entity>) {
    this.#entities = entities;
    const interfaces = [...entities.values()].flatMap(({ type }) => (isInterfaceType(type) ? type : []));
    this.#interfaces = new Map(interfaces.map((type) => [type.name, typeNameResolver(schema, type)]));
  }

  typeNameOf(entity: object): string | undefined {
    return this.#typeNames.get(entity);
  }

  /** The entity, a promise of it, or null. Never throws: an Error is the error of this representation alone. */
  resolve(representation: unknown, context: ExecutionContext, info: GraphQLResolveInfo): unknown {
    try {
      const entity = this.#entityOf(representation);
      const reference = {
        __typename: entity.type.name,
        ...coercedFields(entity.fields, representation as object, entity.type.name),
      };
      const resolve = referenceResolverOf(entity.type);
      const loaded = resolve ? resolve(reference, context, info) : reference;
      const named = (value: unknown) => this.#named(value, entity, context, info);
      return isThenable(loaded) ? Promise.resolve(loaded).then(named) : named(loaded);
    } catch (error) {
      return asError(error);
    }
  }

  #entityOf(representation: unknown): Entity {
    if (typeof representation !== 'object' || representation === null || Array.isArray(representation)) {
      throw clientError(
        'BAD_USER_INPUT',
        'A representation must be an object with __typename and the fields of a @key.',
      );
    }
    const { __typename: name } = representation as { __typename?: unknown };
    const entity = typeof name === 'string' ? this.#entities.get(name) : undefined;
    if (!entity)
      throw clientError('BAD_USER_INPUT', 'The __typename of the representation names no entity of this subgraph.');
    if (entity.keys.some((key) => hasFieldSet(key, representation))) return entity;
    throw clientError('BAD_USER_INPUT', `The representation has not all fields of a @key of "${entity.type.name}".`);
  }

  /** Remembers the type of an entity, which its own properties need not tell. */
  #named(value: unknown, { type }: Entity, context: ExecutionContext, info: GraphQLResolveInfo): unknown {
    if (value === null || value === undefined || value instanceof Error) return value ?? null;
    if (typeof value !== 'object') throw new TypeError(`${type.name}.__resolveReference must return an object or null`);
    const name = this.#interfaces.get(type.name)?.(value, context, info) ?? type.name;
    const known = this.#typeNames.get(value);
    // An access rule has been asked about one type and must not hold for another.
    if (known !== undefined && known !== name) {
      throw new Error(
        `${type.name}.__resolveReference returned an object that is a "${known}" already; return a copy of it`,
      );
    }
    this.#typeNames.set(value, name);
    return value;
  }
}
