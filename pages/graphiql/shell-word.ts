/** One word of a shell, whatever the text holds. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** True if a person can paste the command: a terminal takes a line break for its end, and other control characters for keys. */
export function canBePasted(command: string): boolean {
  return !/\p{Cc}/u.test(command);
}

/** The same without quotes where a shell needs none. */
export function word(text: string): string {
  return /^[\w.:,/@=+-]+$/.test(text) ? text : quoted(text);
}
