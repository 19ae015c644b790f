import type { ConnectParameters, ConvertValue } from './connect-value.ts';

/** A column of more bits is printed without zeros before its first byte: a few bytes must not stand for megabytes of text. */
const MAX_LENGTH = 4096;

/**
 * Of Debezium's bits: `"00000101"`, as many digits as the column has, the highest first, as databases print them. The bytes are base64, the lowest
 * first. Of a column with varying bits the connector does not say how many zeros a value begins with.
 */
export function bitsConverter({ length }: ConnectParameters): ConvertValue {
  const digits = Number(length);
  return (value, texts) => {
    if (typeof value !== 'string') return value;
    const bytes = Buffer.from(value, 'base64').reverse();
    const text = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('');
    if (!(digits <= MAX_LENGTH)) return texts.charged(text);
    const surplus = text.length - digits;
    const isPadded = surplus > 0 && !text.slice(0, surplus).includes('1');
    return texts.charged(isPadded ? text.slice(surplus) : text.padStart(digits, '0'));
  };
}
