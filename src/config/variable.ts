import { PERCENT_ENCODED, isServiceUrl } from './addresses/service-url.ts';

/** Returns undefined for a text that is refused. */
type Parse<Value> = (text: string) => { readonly value: Value } | undefined;

export type Environment = Readonly<Record<string, string | undefined>>;

/** A setting of crier: an environment variable, and what its text means. */
export interface Variable<Value = unknown> {
  readonly parse: Parse<Value>;
  /** As the environment would have it; '' means not set. */
  readonly default: string;
  readonly unit: string;
  readonly meaning: string;
  /** The value that the message of a refusal asks for. */
  readonly expects: string;
  /** The value is never shown, and `<NAME>_FILE` may name a file that holds it. */
  readonly isSecret?: true;
  /** The value may change while the server runs. */
  readonly isTunable?: true;
}

/** setTimeout treats a delay of more than 31 bits as 1 ms, so no duration is longer than a day. */
const MAX_WAIT_MS = 86_400_000;
export const MS = `a whole number of milliseconds, at most ${MAX_WAIT_MS}`;
export const HTTP_URL = `an http:// or https:// URL, ${PERCENT_ENCODED}`;
export const BOOL = '"true", "false", "on" or "off"';

const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['on', true],
  ['false', false],
  ['off', false],
]);

export const flag: Parse<boolean> = (text) => {
  const value = FLAGS.get(text);
  return value === undefined ? undefined : { value };
};

const anyText: Parse<string> = (value) => ({ value });

const textThat =
  (isAccepted: (text: string) => boolean): Parse<string> =>
  (value) =>
    isAccepted(value) ? { value } : undefined;

const wordOf =
  <Word extends string>(words: readonly Word[]): Parse<Word> =>
  (text) => {
    const value = words.find((word) => word === text);
    return value === undefined ? undefined : { value };
  };

const whole =
  (min: number, max = Number.MAX_SAFE_INTEGER): Parse<number> =>
  (text) => {
    const value = Number(text);
    return /^\d+$/.test(text) && value >= min && value <= max ? { value } : undefined;
  };

const upToOne: Parse<number> = (text) => {
  const value = Number(text);
  return /^(\d+(\.\d+)?|\.\d+)$/.test(text) && value <= 1 ? { value } : undefined;
};

/** '' means undefined. */
const optional =
  <Value>(parse: Parse<Value>): Parse<Value | undefined> =>
  (text) =>
    text === '' ? { value: undefined } : parse(text);

const commaSeparated: Parse<string[]> = (text) => ({
  value: text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
});

export const text = (fallback: string, expects: string, meaning: string) =>
  variable(anyText, fallback, '', expects, meaning);

/** '' where the variable is not set. */
export const bearerToken = (meaning: string) =>
  variable(
    textThat((text) => /^$|^[\w.~+/-]{32,}=*$/.test(text)),
    '',
    '',
    'at least 32 letters, digits or characters of -._~+/ (RFC 6750)',
    meaning,
  );

/** A variable whose value may be, or hold, a password or a key. */
export const secret = <Value>(variable: Variable<Value>): Variable<Value> => ({
  ...variable,
  isSecret: true,
});

/** A variable whose value may change while the server runs. */
export const tunable = <V extends Variable>(variable: V): V & { readonly isTunable: true } => ({
  ...variable,
  isTunable: true,
});

/** A text of at least one character. */
export const name = (fallback: string, expects: string, meaning: string) =>
  variable(
    textThat((text) => text !== ''),
    fallback,
    '',
    expects,
    meaning,
  );

/** '' where the variable is not set. */
export const httpUrl = (meaning: string) =>
  variable(
    textThat((text) => text === '' || isServiceUrl(text)),
    '',
    '',
    HTTP_URL,
    meaning,
  );

export const list = (fallback: string, expects: string, meaning: string) =>
  variable(commaSeparated, fallback, '', expects, meaning);

/** Words of a list, each of which may be named once or not at all. */
export const wordsOf = <const Word extends string>(words: readonly Word[], meaning: string) => {
  const parse: Parse<Word[]> = (text) => {
    const { value } = commaSeparated(text)!;
    return value.every((word): word is Word => words.some((one) => one === word)) ? { value } : undefined;
  };
  return variable(parse, '', '', `words of ${words.join(', ')}, separated by commas`, meaning);
};

/** A variable with the words that it takes. */
export const oneOf = <const Word extends string>(
  words: readonly Word[],
  fallback: NoInfer<Word>,
  expects: string,
  meaning: string,
) => ({ ...variable(wordOf(words), fallback, '', expects, meaning), words });

export const bool = (fallback: 'true' | 'false', meaning: string) => variable(flag, fallback, '', BOOL, meaning);

/** undefined where the variable is not set. */
export const optionalBool = (meaning: string) => variable(optional(flag), '', '', BOOL, meaning);

export const port = (fallback: string, meaning: string) =>
  variable(whole(0, 65_535), fallback, '', 'a port, 0 to 65535', meaning);

export const ms = (min: number, fallback: string, meaning: string, expects = MS) =>
  variable(whole(min, MAX_WAIT_MS), fallback, 'ms', expects, meaning);

/** undefined where the variable is not set. */
export const optionalMs = (min: number, meaning: string) =>
  variable(optional(whole(min, MAX_WAIT_MS)), '', 'ms', MS, meaning);

export const bytes = (min: number, fallback: string, meaning: string) =>
  variable(whole(min), fallback, 'bytes', `a whole number of bytes${min > 1 ? `, at least ${min}` : ''}`, meaning);

export const count = (min: number, fallback: string, unit: string, meaning: string, max?: number) =>
  variable(
    whole(min, max),
    fallback,
    unit,
    max === undefined ? 'a whole number' : `a whole number, ${min} to ${max}`,
    meaning,
  );

/** A whole number from 1, or `auto`. */
export const countOrAuto = (fallback: string, unit: string, meaning: string, max: number) => {
  const number = whole(1, max);
  const parse: Parse<number | 'auto'> = (text) => (text === 'auto' ? { value: text } : number(text));
  return variable(parse, fallback, unit, `"auto", or a whole number, 1 to ${max}`, meaning);
};

/** undefined where the variable is not set. */
export const optionalFraction = (meaning: string) =>
  variable(optional(upToOne), '', 'fraction', 'a number from 0 to 1', meaning);

function variable<Value>(
  parse: Parse<Value>,
  fallback: string,
  unit: string,
  expects: string,
  meaning: string,
): Variable<Value> {
  return { parse, default: fallback, unit, expects, meaning };
}
