/** A message of OpenSSL: its code, its file and its line tell nobody anything. */
const OPENSSL = /[0-9A-F]+:error:[0-9A-F]{8}:SSL routines:[^:]*:([^:]*):[^\n]*\n?/g;

/** A text with what OpenSSL says of an error, without where in OpenSSL that is. */
export function withoutOpensslPlaces(text: string): string {
  return text.replaceAll(OPENSSL, '$1');
}
