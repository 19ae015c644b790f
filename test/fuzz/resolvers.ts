import assert from 'node:assert/strict';
import fc from 'fast-check';
import { GraphQLScalarType } from 'graphql';
import type { ExecutionContext } from '../../src/context/context.ts';
import { connectionOf, observe, programOf } from '../context/random-programs.ts';
import { createStage } from '../fanout/stage.ts';
import type { FuzzKind } from './kind.ts';

const SDL = `
  type Subscription { event: Event @kafka(topic: "t", payload: "event") }
  type Event { id: ID value: Any }
  scalar Any`;

/** A resolver that reads a random way: each connection gets what an execution of its own gives. */
export const resolvers: FuzzKind = {
  shortRuns: 60,
  property: () => {
    const cases = fc.tuple(programOf, fc.array(connectionOf, { minLength: 2, maxLength: 5 }), fc.constantFrom(0, 1));
    return Promise.resolve(
      fc.asyncProperty(cases, async ([program, connections, jitAfterUses]) => {
        const ends: (() => void | Promise<void>)[] = [];
        const value = (_source: unknown, _args: unknown, { connection }: ExecutionContext) =>
          JSON.stringify(observe(program, connection));
        try {
          const stage = await createStage(
            { after: (end: () => void | Promise<void>) => void ends.push(end) },
            { sdl: SDL, resolvers: { Event: { value }, Any: new GraphQLScalarType({ name: 'Any' }) }, jitAfterUses },
          );
          const listeners = await Promise.all(
            connections.map((facts) => stage.join('subscription { event { id value } }', facts)),
          );
          await stage.publish('t{}', { event: { id: '1' } }, { event: { id: '2' } });
          for (const { received, alone } of listeners) assert.deepEqual(received, alone);
        } finally {
          for (const end of ends.reverse()) await end();
        }
      }),
    );
  },
};
