const MAX_LENGTH = 60;

/** Control and format characters: they move the cursor of a terminal, and hide or reorder what a reader sees. Not "\n" and "\t". */
const HIDDEN = /(?![\n\t])[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** A text in quotes, on one line, without hidden characters. */
export function visible(text: string): string {
  return escapeHidden(JSON.stringify(text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text));
}

/** Writes hidden characters as `\uXXXX`. JSON keeps its value: its texts have neither "\n" nor "\t". */
export function escapeHidden(text: string): string {
  return text.replace(HIDDEN, escaped);
}

/** The same, on one line: for a text of somebody else in a line of one's own. */
export function onOneLine(text: string): string {
  return escapeHidden(text).replace(/[\n\t]/g, escaped);
}

/** Each UTF-16 unit of the text, as JSON escapes it. */
function escaped(text: string): string {
  return Array.from({ length: text.length }, (_, i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`).join(
    '',
  );
}
