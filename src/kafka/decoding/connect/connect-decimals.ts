import { NUMBER } from '../../../base/json/exact-numbers.ts';
import { decimalNumber, decimalText, MAX_DECIMAL_BYTES, MAX_DECIMAL_DIGITS, scaledText } from '../decimal-text.ts';
import type { ConvertValue, PayloadTexts } from './connect-value.ts';

/**
 * Least length of the text that stands for a number whose digits a double loses (base/json/exact-numbers.ts). Of values in base64 of this
 * length, one in 10^13 has digits only.
 */
const MIN_EXACT_LENGTH = 16;

/**
 * Of Connect's Decimal: the unscaled value in base64, or with `decimal.format=NUMERIC` a number.
 * Returns undefined if the scale is no integer: then Connect has not written the schema.
 * @param scale digits after the point
 * @param isNumber true: a number is read
 */
export function decimalConverter(scale: number, isNumber: boolean): ConvertValue | undefined {
  if (!Number.isInteger(scale)) return undefined;
  return (value, texts) => {
    const text = typeof value === 'number' ? String(value) : value;
    if (typeof text !== 'string') return value;
    const decimal = typeof value === 'number' || isNumberText(text) ? ofNumber(text, scale) : ofBase64(text, scale);
    return decimal === undefined ? value : printed(decimal, isNumber, texts);
  };
}

/** Of Debezium's decimals whose scale differs between records: `{"scale": 2, "value": "BOI="}`. */
export function variableScaleConverter(isNumber: boolean): ConvertValue {
  return (value, texts) => {
    const { scale, value: unscaled } = Object(value) as { readonly scale?: unknown; readonly value?: unknown };
    if (!Number.isInteger(scale) || typeof unscaled !== 'string') return value;
    const decimal = ofBase64(unscaled, scale as number);
    return decimal === undefined ? value : printed(decimal, isNumber, texts);
  };
}

function printed(text: string, isNumber: boolean, texts: PayloadTexts): unknown {
  texts.charged(text);
  return isNumber ? decimalNumber(text, () => texts.beyondJson()) : text;
}

function isNumberText(text: string): boolean {
  return text.length >= MIN_EXACT_LENGTH && NUMBER.test(text);
}

/** undefined: it is no base64, or of more digits than are printed. */
function ofBase64(text: string, scale: number): string | undefined {
  const unscaled = Buffer.from(text, 'base64');
  const isExact = unscaled.length > 0 && unscaled.toString('base64') === text;
  if (!isExact || unscaled.length > MAX_DECIMAL_BYTES || Math.abs(scale) > MAX_DECIMAL_DIGITS) return undefined;
  return decimalText(unscaled, scale);
}

/** With as many digits after the point as the scale says, or more if the number has them. */
function ofNumber(text: string, scale: number): string | undefined {
  const [, whole, fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  if (whole === undefined || text.length > 2 * MAX_DECIMAL_DIGITS || Math.abs(Number(exponent)) > MAX_DECIMAL_DIGITS)
    return undefined;
  const written = fraction.length - Number(exponent);
  const missing = Math.max(0, scale - written);
  if (written + missing > MAX_DECIMAL_DIGITS) return undefined;
  const digits = BigInt(whole + fraction) * 10n ** BigInt(missing);
  return scaledText(text.startsWith('-') ? -digits : digits, written + missing);
}
