import { exactNumber } from '../../base/json/exact-numbers.ts';

/** Bytes of an unscaled value. 2,400 digits are more than databases have, and few enough to print. */
export const MAX_DECIMAL_BYTES = 1000;
/** Of a precision or a scale. */
export const MAX_DECIMAL_DIGITS = 2400;

/**
 * @param unscaled a big-endian two's complement integer
 * @param scale digits after the point; negative: zeros after the digits
 */
export function decimalText(unscaled: Buffer, scale: number): string {
  const { length } = unscaled;
  if (length <= 6) return scaledText(length === 0 ? 0 : unscaled.readIntBE(0, length), scale);
  return scaledText(BigInt.asIntN(length * 8, BigInt(`0x${unscaled.toString('hex')}`)), scale);
}

/** @param value times 10 to the power of the scale */
export function scaledText(value: number | bigint, scale: number): string {
  const sign = value < 0 ? '-' : '';
  if (scale < 0) return String(value) + (value == 0 ? '' : '0'.repeat(-scale));
  const digits = String(value < 0 ? -value : value).padStart(scale + 1, '0');
  return scale === 0 ? sign + digits : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** The number that a decimal is; its text if a double loses digits of it. @param onOverflow called for one beyond a double */
export function decimalNumber(text: string, onOverflow: () => null): number | string | null {
  return Number.isFinite(Number(text)) ? exactNumber(text) : onOverflow();
}
