import fc from 'fast-check';
import { auction, compare } from '../graph/support/random-documents.ts';
import type { FuzzKind } from './kind.ts';

const TYPES = { x: 'String', y: 'Int', z: 'Status', f: 'Filter', p: 'Plain', l: '[Int!]', d: 'Day' };

const name = fc.constantFrom(
  'a',
  'b',
  'c',
  'd',
  'f',
  'l',
  'm',
  'n',
  'p',
  'q',
  's',
  't',
  'x',
  'y',
  'z',
  '__proto__',
  'toString',
);
const leaf = fc.oneof(
  fc.constantFrom<unknown[]>(null, true, 0, -1, 1.5, 2 ** 31, 2 ** 40, '', 'x', '7', 'OPEN', 'CLOSED', 'NOPE'),
  fc.integer(),
  fc.string({ maxLength: 8 }),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 4 }),
  ),
}));

/** Any JSON as the variables of an operation: refused or coerced as by graphql-js. */
export const variables: FuzzKind = {
  shortRuns: 300,
  property: () => {
    const names = fc.uniqueArray(fc.constantFrom(...(Object.keys(TYPES) as (keyof typeof TYPES)[])), { minLength: 1 });
    const cases = fc.tuple(names, fc.dictionary(name, value), fc.boolean());
    return Promise.resolve(
      fc.asyncProperty(cases, async ([used, values, isRequired]) => {
        const declared = used.map((each) => `$${each}: ${TYPES[each]}${isRequired && each === used[0] ? '!' : ''}`);
        const passed = used.map((each) => `${each}: $${each}`);
        const query = `subscription(${declared.join(', ')}) { auction(id: 1) { echo(${passed.join(', ')}) } }`;
        await compare(query, { auction }, values);
      }),
    );
  },
};
