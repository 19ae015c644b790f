import { didYouMean } from '../base/did-you-mean.ts';

/** Units of times, in milliseconds, and of sizes, in bytes. */
const UNITS: Readonly<Record<string, number>> = {
  ...{ ms: 1, s: 1000, sec: 1000, m: 60_000, min: 60_000, h: 3_600_000 },
  ...{ b: 1, k: 1024, kb: 1024, kib: 1024, mb: 1024 ** 2, mib: 1024 ** 2, gb: 1024 ** 3, gib: 1024 ** 3 },
};

const FLAGS: Readonly<Record<string, string>> = { yes: 'true', '1': 'true', no: 'false', '0': 'false' };

/**
 * `; write 10000` for a value such as `10s`, which another program would accept: the first of its other spellings that is accepted; '' if
 * none is.
 * @param words of which one is expected
 */
export function nearValueFix(
  value: string,
  isAccepted: (text: string) => boolean,
  words: readonly string[] = [],
): string {
  const near = spellings(value).find((text) => text !== '' && text !== value && isAccepted(text));
  return near === undefined ? didYouMean(value, words) : `; write ${near}`;
}

function spellings(value: string): string[] {
  const plain = value.trim().replace(/^(["'])(.*)\1$/s, '$2');
  const lower = plain.toLowerCase();
  const host = plain.replace(/^\w+:\/\//, '').replace(/\/.*$/, '');
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)\s*([a-z]+)$/.exec(lower) ?? [];
  const size = Number(number) * (UNITS[unit] ?? Number.NaN);
  return [
    plain,
    lower,
    lower.replaceAll('_', '-'),
    plain.toUpperCase(),
    FLAGS[lower] ?? '',
    Number.isInteger(size) ? String(size) : '',
    plain.replaceAll(/[_,]/g, ''),
    plain.replace(/^:/, ''),
    host,
    plain.replaceAll(/[[\]"'\s]*[;,\s][[\]"'\s]*/g, ',').replaceAll(/[[\]"']/g, ''),
    `${host}:9092`,
    `${/^[^/]*\.[^/\d]/.test(plain) ? 'https' : 'http'}://${plain}`,
  ];
}
