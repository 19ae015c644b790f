/** One word of a shell, whatever the text holds. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** The same without quotes where a shell needs none. */
export function word(text: string): string {
  return /^[\w.:,/@=+-]+$/.test(text) ? text : quoted(text);
}
