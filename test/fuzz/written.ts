import fc from 'fast-check';

/** How a number is written in JSON, alone or in quotes. */
export interface Written {
  readonly number: string;
  readonly isText: boolean;
}

/** One of the numbers, in a quarter of all cases in quotes. */
export function written(...numbers: string[]): fc.Arbitrary<Written> {
  return fc.record({ number: fc.constantFrom(...numbers), isText: fc.nat(3).map((n) => n === 0) });
}

export function jsonOf({ number, isText }: Written): string {
  return isText ? `"${number}"` : number;
}
