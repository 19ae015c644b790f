/**
 * JSON text of a value, in one of the many ways in which somebody else may write it: with white space, keys in another order, keys
 * that nobody asks for, keys twice, escapes and numbers that are longer than they need to be. `choose`: 0 to 999.
 */
export function writtenJson(value: unknown, choose: () => number): string {
  const space = () => (choose() < 60 ? [' ', '\n', '\t ', '\r\n'][choose() % 4]! : '');
  const rare = () => choose() < 4;
  if (Array.isArray(value)) {
    return `[${space()}${value.map((item) => writtenJson(item, choose)).join(`${space()},${space()}`)}${space()}]`;
  }
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([key, inner]) => [key, inner, choose()] as const);
    if (choose() < 300) members.push(['unwanted', [{ x: [1, 'y', null] }, {}], choose()]);
    if (rare()) members.push(['int', 7, choose()]);
    if (choose() < 200) members.sort(([, , a], [, , b]) => a - b);
    const texts = members.map(([key, inner]) => {
      const name = rare()
        ? `"\\u${key.charCodeAt(0).toString(16).padStart(4, '0')}${key.slice(1)}"`
        : JSON.stringify(key);
      return `${name}${rare() ? ' ' : ''}:${space()}${writtenJson(inner, choose)}`;
    });
    return `{${space()}${texts.join(`${space()},${space()}`)}${space()}}`;
  }
  const text = JSON.stringify(value);
  if (typeof value === 'number' && Number.isInteger(value) && rare()) return `${text}${text.includes('e') ? '' : '.0'}`;
  return typeof value === 'string' && rare() ? text.replaceAll('R', '\\u0052') : text;
}
