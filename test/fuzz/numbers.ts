import assert from 'node:assert/strict';
import fc from 'fast-check';
import { startNumbers } from '../graph/embedded/number-stage.ts';
import { waitFor } from '../support/wait-for.ts';
import type { Socket } from '../support/socket.ts';
import { areEqual } from './decimal.ts';
import type { FuzzKind } from './kind.ts';
import { jsonOf, written } from './written.ts';
import type { Written } from './written.ts';

interface Row {
  readonly id: Written;
  readonly tenant: Written;
}

interface Client {
  readonly tenant: Written;
  readonly field: (typeof FIELDS)[number];
  readonly id: Written;
  readonly isLiteral: boolean;
}

const FIELDS = ['row', 'mine', 'own', 'kept', 'equal', 'among'] as const;
/** Fields whose events are chosen by a claim, and those by an argument. */
const BY_CLAIM = new Set<string>(['mine', 'own']);
const BY_ID = new Set<string>(FIELDS.filter((field) => field !== 'mine'));

const whole = fc
  .tuple(fc.constantFrom(2n ** 53n, -(2n ** 53n), 2n ** 54n, 2n ** 63n, 10n ** 20n), fc.bigInt({ min: -3n, max: 3n }))
  .map(([center, offset]) => String(center + offset));
const other = fc.oneof(
  whole.map((digits) => `${digits}.0`),
  whole.map((digits) => `${digits}.5`),
  whole.map((digits) => `${digits}e0`),
  whole.map((digits) => `${digits.slice(0, -1)}.${digits.slice(-1)}E1`),
);
/** Few numbers, so that clients and rows often have the same, or one that the same double stands for. */
const poolOf = fc.record({
  whole: fc.array(whole, { minLength: 2, maxLength: 4 }),
  other: fc.array(other, { maxLength: 2 }),
});

const casesOf = poolOf.chain((pool) => {
  const any = written(...pool.whole, ...pool.other);
  return fc.record({
    clients: fc.array(
      fc.record<Client>({
        tenant: any,
        field: fc.constantFrom(...FIELDS),
        // An ID is a whole number, or any text.
        id: written(...pool.whole),
        isLiteral: fc.boolean(),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    rows: fc.array(fc.record<Row>({ id: any, tenant: any }), { minLength: 1, maxLength: 5 }),
  });
});

/** The pairs of what a client asks for and what a row has. */
function pairsOf({ field, tenant, id }: Client, row: Row): (readonly [string, string])[] {
  return [
    ...(BY_CLAIM.has(field) ? [[tenant.number, row.tenant.number] as const] : []),
    ...(BY_ID.has(field) ? [[id.number, row.id.number] as const] : []),
  ];
}

function operationOf({ field, id, isLiteral }: Client): readonly [query: string, variables: string] {
  if (field === 'mine') return ['subscription { mine { name } }', '{}'];
  const value = field === 'among' ? `[${jsonOf(id)}]` : jsonOf(id);
  const name = field === 'among' ? 'ids' : 'id';
  if (isLiteral) return [`subscription { ${field}(${name}: ${value}) { name } }`, '{}'];
  const type = { row: 'ID', own: 'ID!', kept: 'ID!', equal: 'ID', among: '[ID!]' }[field];
  return [`subscription ($v: ${type}) { ${field}(${name}: $v) { name } }`, `{"v":${value}}`];
}

const isWhole = (number: string) => /^-?\d+$/.test(number);

/**
 * Numbers that a double cannot tell apart, in records, claims, literals and variables, through the whole of an embedded server: nobody
 * receives a row of another number, and everybody those of the same digits.
 */
export const numbers: FuzzKind = {
  shortRuns: 10,
  property: async (scope) => {
    const { open, subscribe, publish, operations } = await startNumbers(scope);
    let cases = 0;
    return fc.asyncProperty(casesOf, async ({ clients, rows }) => {
      const number = cases++;
      const sockets: Socket[] = [];
      try {
        for (const client of clients) {
          const socket = await open(jsonOf(client.tenant));
          sockets.push(socket);
          await subscribe(socket, ...operationOf(client));
        }
        for (const [i, row] of rows.entries()) {
          const name = JSON.stringify(JSON.stringify({ number, i, row }));
          await publish(`{"id":${jsonOf(row.id)},"tenant":${jsonOf(row.tenant)},"name":${name}}`, row.id.number);
        }
        for (const [i, client] of clients.entries()) {
          const received = (await sockets[i]!.roundTrip()).map(({ type, payload }) => {
            assert.equal(type, 'next', JSON.stringify(payload));
            const [event] = Object.values((payload as { data: Record<string, { name: string }> }).data);
            return JSON.parse(event!.name) as { number: number; i: number; row: Row };
          });
          // Also of earlier cases: a field with state begins with one.
          for (const { row } of received) {
            for (const [asked, had] of pairsOf(client, row))
              assert.ok(areEqual(asked, had), `foreign: ${asked} received ${JSON.stringify(row)}`);
          }
          const own = rows.flatMap((row, at) => {
            return pairsOf(client, row).every(([asked, had]) => asked === had && isWhole(had)) ? [at] : [];
          });
          const present = received.filter((one) => one.number === number).map((one) => one.i);
          for (const at of own)
            assert.equal(present.filter((one) => one === at).length, 1, `${JSON.stringify(client)} of row ${at}`);
        }
      } finally {
        for (const socket of sockets) socket.close();
        await waitFor('the end of the operations', async () => (await operations()) === 0);
      }
    });
  },
};
