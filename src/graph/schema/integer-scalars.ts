import { GraphQLError, Kind, print } from 'graphql';
import type { GraphQLScalarType, ValueNode } from 'graphql';
import { textOf } from '../compared-text.ts';
import { setScalarFunctions } from '../graphql-version.ts';

const INTEGER = /^(?:0|-?[1-9]\d*)$/;
/** Comparing takes time for each digit; filters compare as many. */
const MAX_DIGITS = 1000;
const MAX_SHOWN = 40;
const [LEAST_LONG, GREATEST_LONG] = [-(2n ** 63n), 2n ** 63n - 1n];
const MAX_LONG_LENGTH = String(LEAST_LONG).length;

interface IntegerScalar {
  readonly values: string;
  /** Each integer of at most as many digits is a value. */
  readonly digits: number;
  /** @param digits of an integer */
  readonly has: (digits: string) => boolean;
}

const SCALARS: ReadonlyMap<string, IntegerScalar> = new Map<string, IntegerScalar>([
  [
    'BigInt',
    {
      values: 'integer of at most 1,000 digits',
      digits: MAX_DIGITS,
      has: (digits) => digits.replace('-', '').length <= MAX_DIGITS,
    },
  ],
  [
    'Long',
    {
      values: 'integer of 64 bits',
      digits: 18,
      has: (digits) => {
        if (digits.length > MAX_LONG_LENGTH) return false;
        const value = BigInt(digits);
        return LEAST_LONG <= value && value <= GREATEST_LONG;
      },
    },
  ],
]);

/** Key in the extensions of scalars that are crier's. */
const DIGITS = 'crier.digits';

/** Each integer of at most as many digits is a value of the scalar; undefined: the scalar is not crier's. */
export function integerDigitsOf({ extensions }: Pick<GraphQLScalarType, 'extensions'>): number | undefined {
  return extensions[DIGITS] as number | undefined;
}

/** Makes a scalar of the graph one of crier's, if it has the name. Its values are integers, as the text of their digits. */
export function defineInteger(type: GraphQLScalarType): void {
  const scalar = SCALARS.get(type.name);
  if (!scalar) return;
  const digitsOf = (value: unknown, node?: ValueNode): string => {
    const text = textOf(value);
    if (text === '-0') return '0';
    if (text !== undefined && INTEGER.test(text) && scalar.has(text)) return text;
    const shown = node ? print(node) : text === undefined ? 'this value' : JSON.stringify(text);
    const short = shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN)}…` : shown;
    const message = `${type.name} cannot represent ${short}: expected an ${scalar.values}, such as "9007199254740993"`;
    throw new GraphQLError(message, node && { nodes: node });
  };
  type.description ??= `An ${scalar.values}, as text.`;
  type.extensions = { ...type.extensions, [DIGITS]: scalar.digits };
  setScalarFunctions(type, {
    serialize: (value) => digitsOf(value),
    parseValue: (value) => digitsOf(value),
    parseLiteral: (node) =>
      digitsOf(node.kind === Kind.INT || node.kind === Kind.STRING ? node.value : undefined, node),
  });
}
