import { z } from 'zod';

/** A setting of crier: an environment variable, and the schema of its value. */
export interface Variable<Schema extends z.ZodType = z.ZodType> {
  readonly schema: Schema;
  /** As the environment would have it; '' means not set. */
  readonly default: string;
  readonly unit: string;
  readonly meaning: string;
  /** The value that the message of a refusal asks for. */
  readonly expects: string;
  /** The value is never shown, and `<NAME>_FILE` may name a file that holds it. */
  readonly isSecret?: true;
}

/** setTimeout treats a delay of more than 31 bits as 1 ms, so no duration is longer than a day. */
const MAX_WAIT_MS = 86_400_000;
export const MS = `a whole number of milliseconds, at most ${MAX_WAIT_MS}`;
export const BOOL = '"true", "false", "on" or "off"';

export const flag = z.enum(['true', 'false', 'on', 'off']).transform((value) => value === 'true' || value === 'on');

const optionalFlag = z
  .enum(['', 'true', 'false', 'on', 'off'])
  .transform((value) => (value === '' ? undefined : value === 'true' || value === 'on'));

const whole = (min: number, max = Number.MAX_SAFE_INTEGER) =>
  z
    .string()
    .regex(/^\d+$/)
    .transform(Number)
    .refine((value) => value >= min && value <= max);

const optionalWhole = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d*$/)
    .transform((value) => (value === '' ? undefined : Number(value)))
    .refine((value) => value === undefined || (value >= min && value <= max));

const upToOne = z
  .string()
  .regex(/^(\d+(\.\d+)?|\.\d+)$/)
  .transform(Number)
  .refine((value) => value <= 1);

const commaSeparated = z.string().transform((value) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
);

export const text = (fallback: string, expects: string, meaning: string) =>
  variable(z.string(), fallback, '', expects, meaning);

/** '' where the variable is not set. */
export const bearerToken = (meaning: string) =>
  variable(
    z.string().regex(/^$|^[\w.~+/-]{32,}=*$/),
    '',
    '',
    'at least 32 letters, digits or characters of -._~+/ (RFC 6750)',
    meaning,
  );

/** A variable whose value may be, or hold, a password or a key. */
export const secret = <Schema extends z.ZodType>(variable: Variable<Schema>): Variable<Schema> => ({
  ...variable,
  isSecret: true,
});

/** A text of at least one character. */
export const name = (fallback: string, expects: string, meaning: string) =>
  variable(z.string().min(1), fallback, '', expects, meaning);

/** '' where the variable is not set. */
export const httpUrl = (meaning: string) =>
  variable(z.string().refine(isHttpUrlOrEmpty), '', '', 'an http:// or https:// URL', meaning);

export const list = (fallback: string, expects: string, meaning: string) =>
  variable(commaSeparated, fallback, '', expects, meaning);

export const oneOf = <const Values extends readonly string[]>(
  values: Values,
  fallback: Values[number],
  expects: string,
  meaning: string,
) => variable(z.enum(values), fallback, '', expects, meaning);

export const bool = (fallback: 'true' | 'false', meaning: string) => variable(flag, fallback, '', BOOL, meaning);

/** undefined where the variable is not set. */
export const optionalBool = (meaning: string) => variable(optionalFlag, '', '', BOOL, meaning);

export const port = (fallback: string, meaning: string) =>
  variable(whole(0, 65_535), fallback, '', 'a port, 0 to 65535', meaning);

export const ms = (min: number, fallback: string, meaning: string, expects = MS) =>
  variable(whole(min, MAX_WAIT_MS), fallback, 'ms', expects, meaning);

/** undefined where the variable is not set. */
export const optionalMs = (min: number, meaning: string) =>
  variable(optionalWhole(min, MAX_WAIT_MS), '', 'ms', MS, meaning);

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
export const countOrAuto = (fallback: string, unit: string, meaning: string, max: number) =>
  variable(z.literal('auto').or(whole(1, max)), fallback, unit, `"auto", or a whole number, 1 to ${max}`, meaning);

export const fraction = (fallback: string, meaning: string) =>
  variable(upToOne, fallback, 'fraction', 'a number from 0 to 1', meaning);

/** undefined where the variable is not set. */
export const optionalFraction = (meaning: string) =>
  variable(
    z
      .literal('')
      .transform(() => undefined)
      .or(upToOne),
    '',
    'fraction',
    'a number from 0 to 1',
    meaning,
  );

function variable<Schema extends z.ZodType>(
  schema: Schema,
  fallback: string,
  unit: string,
  expects: string,
  meaning: string,
): Variable<Schema> {
  return { schema, default: fallback, unit, expects, meaning };
}

function isHttpUrlOrEmpty(value: string): boolean {
  return value === '' || (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol));
}
