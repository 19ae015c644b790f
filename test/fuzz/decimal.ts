/** A decimal as a whole number and a power of ten. */
function partsOf(number: string): { readonly digits: bigint; readonly exponent: number } {
  const [, whole = '', fraction = '', exponent = '0'] = /^(-?\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number)!;
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

/** Negative, 0 or positive, as `a` is less than, equal to or greater than `b`. */
export function compared(a: string, b: string): number {
  const [x, y] = [partsOf(a), partsOf(b)];
  const least = Math.min(x.exponent, y.exponent);
  const scaled = ({ digits, exponent }: typeof x) => digits * 10n ** BigInt(exponent - least);
  const difference = scaled(x) - scaled(y);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

export function areEqual(a: string, b: string): boolean {
  return compared(a, b) === 0;
}

export function isInteger(number: string): boolean {
  const { digits, exponent } = partsOf(number);
  return exponent >= 0 || digits % 10n ** BigInt(-exponent) === 0n;
}

/** @param number an integer */
export function digitsOf(number: string): string {
  const { digits, exponent } = partsOf(number);
  return String(exponent >= 0 ? digits * 10n ** BigInt(exponent) : digits / 10n ** BigInt(-exponent));
}

/** True if the nearest double is infinite: from half a unit of the last place beyond the greatest one. */
export function isBeyondDouble(number: string): boolean {
  const least = String(2n ** 1024n - 2n ** 970n);
  return compared(number.replace(/^-/, ''), least) >= 0;
}
