/** A longer text is no number: comparing takes linear time, and each set of arguments compares. */
const MAX_LENGTH = 1100;
const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/;

/** A number without an exponent, without leading and trailing zeros. */
interface Digits {
  readonly isNegative: boolean;
  readonly integer: string;
  readonly fraction: string;
}

/** Negative, 0 or positive, exactly, however many digits the numbers have; undefined: one of the texts is no decimal number. */
export function compareDecimals(a: string, b: string): number | undefined {
  const one = digitsOf(a);
  const other = one && digitsOf(b);
  if (!one || !other) return undefined;
  if (one.isNegative !== other.isNegative) return one.isNegative ? -1 : 1;
  return one.isNegative ? compareAbsolute(other, one) : compareAbsolute(one, other);
}

export function isDecimal(text: string): boolean {
  return text.length <= MAX_LENGTH && DECIMAL.test(text);
}

function digitsOf(text: string): Digits | undefined {
  const match = text.length <= MAX_LENGTH ? DECIMAL.exec(text) : null;
  if (!match) return undefined;
  const [, sign, whole, decimals = '', exponent = '0'] = match as unknown as [string, string, string, string?, string?];
  const digits = whole + decimals;
  const point = whole.length + Number(exponent);
  const integer = (point <= 0 ? '' : digits.slice(0, point).padEnd(point, '0')).replace(/^0+/, '');
  const fraction = (point < 0 ? '0'.repeat(-point) + digits : digits.slice(point)).replace(/0+$/, '');
  return { isNegative: sign === '-' && integer + fraction !== '', integer, fraction };
}

function compareAbsolute(one: Digits, other: Digits): number {
  const lengths = one.integer.length - other.integer.length;
  if (lengths !== 0) return lengths;
  if (one.integer !== other.integer) return one.integer < other.integer ? -1 : 1;
  if (one.fraction === other.fraction) return 0;
  return one.fraction < other.fraction ? -1 : 1;
}
