import { textOf } from './compared-text.ts';
import type { Refusal } from './refusal.ts';
import { badInput } from './request-limits.ts';
import type { MatchedScalar } from './schema/matched-scalar.ts';

/** An argument that is compared with values of records. */
export interface ComparedArgument {
  readonly arg: string;
  /** Absent for other types. */
  readonly scalar?: MatchedScalar | undefined;
}

/** The texts of an argument's values, each once; undefined: it is left out or null, so it restricts nothing. @param args coerced */
export function argumentTexts(
  args: Readonly<Record<string, unknown>>,
  { arg, scalar }: ComparedArgument,
): readonly string[] | Refusal | undefined {
  const given = args[arg];
  if (given === undefined || given === null) return undefined;
  const values = Array.isArray(given) && scalar?.isList !== false ? (given as unknown[]) : [given];
  if (values.length === 0) return badInput(emptyList(arg));
  const texts = new Set<string>();
  for (const value of values) {
    const text = scalar ? serializedText(scalar, value) : textOf(value);
    if (text === undefined) return badInput(`The argument "${arg}" must be a string, a number or a boolean`);
    texts.add(text);
  }
  return [...texts];
}

/** undefined also if the scalar, which is the graph's code, refuses the value. */
function serializedText({ serialize }: MatchedScalar, value: unknown): string | undefined {
  try {
    return textOf(serialize(value));
  } catch {
    return undefined;
  }
}

export function emptyList(arg: string): string {
  return `The list "${arg}" is empty, so no event would ever arrive; give a value, or null for every value where that is allowed`;
}
