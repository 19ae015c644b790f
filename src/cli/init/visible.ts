const MAX_LENGTH = 60;

/** A text in quotes, on one line, without characters that hide or reorder what a reader sees. */
export function visible(text: string): string {
  return escapeHidden(JSON.stringify(text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text));
}

/** Escapes control and format characters in the text of JSON. */
export function escapeHidden(json: string): string {
  const escaped = (character: string) =>
    Array.from(
      { length: character.length },
      (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
    ).join('');
  return json.replace(/[\p{Cf}\u007f-\u009f\u2028\u2029]/gu, escaped);
}
