import assert from 'node:assert/strict';
import fc from 'fast-check';
import { GraphQLScalarType, buildSchema, execute, parse } from 'graphql';
import type { ConnectionFacts } from '../../../../src/graph/context/connection-facts.ts';
import { createContext } from '../../../../src/graph/context/context.ts';
import type { ExecutionContext } from '../../../../src/graph/context/context.ts';
import type { BackendPort } from '../../../../src/graph/context/execution-backends.ts';
import { connectionOf, observe, programOf } from '../../../graph/context/random-programs.ts';
import { argumentsOf, write, writerOf } from './random-arguments.ts';
import type { RandomArguments } from './random-arguments.ts';
import { createStage } from '../stage.ts';

type Context = Pick<ExecutionContext, 'connection'>;
interface Source {
  readonly id: string;
}
type Resolver = (source: Source, args: Record<string, unknown>, context: Context) => unknown;

/** Which resolver takes the arguments: a field's, the root field's, or a method of the root field's value. */
type Site = 'field' | 'root' | 'method';

/** The resolver reads facts for this event only. The results of other events are shared, so they must contain no user's data. */
const PRIVATE = 'private';
const EVENTS = [PRIVATE, 'open', PRIVATE, 'open', 'open', PRIVATE, 'open'];

/**
 * A resolver that reads facts, and writes to its arguments, in random ways: each connection gets what graphql-js gives it for a
 * schema, and arguments, that no other execution has seen.
 */
export function resolverProperty() {
  const cases = fc.record({
    program: programOf,
    writer: writerOf,
    taken: argumentsOf,
    site: fc.constantFrom<Site>('field', 'root', 'method'),
    connections: fc.array(connectionOf, { minLength: 2, maxLength: 4 }),
    jitAfterUses: fc.constantFrom(0, 1, 3),
  });
  return fc.asyncProperty(cases, async ({ program, writer, taken, site, connections, jitAfterUses }) => {
    const createResolver = (): Resolver => {
      const memory = new WeakMap<object, string>();
      return ({ id }, args, { connection }) => {
        const facts = id === PRIVATE ? observe(program, connection) : [];
        return JSON.stringify([facts, write(writer, args, JSON.stringify([id, facts]), memory)]);
      };
    };
    const ends: (() => void | Promise<void>)[] = [];
    try {
      const stage = await createStage(
        { after: (end: () => void | Promise<void>) => void ends.push(end) },
        { sdl: sdlOf(taken, site), resolvers: resolversOf(site, createResolver()), jitAfterUses },
      );
      const query = queryOf(taken, site);
      const listeners = await Promise.all(
        connections.map((facts) => stage.join(query, facts, structuredClone(taken.variables))),
      );
      for (const id of EVENTS) await stage.publish('t{}', { event: { id } });
      for (const { received, alone, facts } of listeners) {
        const expected = EVENTS.map((id) => unshared(taken, site, createResolver(), { id }, facts));
        assert.deepEqual(received, expected, 'delivered');
        assert.deepEqual(alone, expected, 'of an execution of its own');
      }
    } finally {
      for (const end of ends.reverse()) await end();
    }
  });
}

const NO_BACKENDS: BackendPort = { send: () => Promise.reject(new Error('there is none')) };

function sdlOf({ definitions, inputTypes }: RandomArguments, site: Site): string {
  const args = `(${definitions})`;
  return `
    type Subscription { event${site === 'root' ? args : ''}: Event @kafka(topic: "t", payload: "event") }
    type Event { id: ID value${site === 'root' ? '' : args}: Any }
    type Query { id: ID }
    scalar Any ${inputTypes}`;
}

function queryOf({ variableDefinitions, passed }: RandomArguments, site: Site): string {
  const selection = site === 'root' ? `event${passed} { id value }` : `event { id value${passed} }`;
  return `subscription ${variableDefinitions} { ${selection} }`;
}

function resolversOf(site: Site, resolve: Resolver): Record<string, unknown> {
  const Any = new GraphQLScalarType({ name: 'Any' });
  if (site === 'field') return { Any, Event: { value: resolve } };
  const event: Resolver =
    site === 'root'
      ? (source, args, context) => ({ ...source, value: resolve(source, args, context) })
      : (source) => ({
          ...source,
          value: (args: Record<string, unknown>, context: Context) => resolve(source, args, context),
        });
  return { Any, Subscription: { event } };
}

/** The result of graphql-js as text. Its inputs are fresh copies without shared objects. */
function unshared(taken: RandomArguments, site: Site, resolve: Resolver, source: Source, facts: ConnectionFacts) {
  const schema = buildSchema(sdlOf(taken, site), { assumeValidSDL: true });
  const own: Resolver = (from, args, context) =>
    resolve(from, JSON.parse(JSON.stringify(args)) as typeof args, context);
  for (const [type, fields] of Object.entries(resolversOf(site, own))) {
    const definition = schema.getType(type);
    if (!definition || !('getFields' in definition)) continue;
    for (const [name, field] of Object.entries(definition.getFields())) {
      const resolver = (fields as Record<string, Resolver>)[name];
      if (resolver) Object.assign(field, { resolve: resolver });
    }
  }
  return JSON.stringify(
    execute({
      schema,
      document: parse(queryOf(taken, site)),
      // In crier the root field's resolver receives the value at the payload's path.
      rootValue: site === 'field' ? { event: source } : source,
      contextValue: createContext({}, NO_BACKENDS, facts),
      variableValues: structuredClone(taken.variables),
    }),
  );
}
