import { readFileSync } from 'node:fs';

/**
 * The files that a page of the documentation shows: its code blocks whose first line is a comment with a name (`# nginx.conf`,
 * `// resolvers.js`), by this name. So a test runs what the page says.
 */
export function filesOfPage(page: string): ReadonlyMap<string, string> {
  const blocks = readFileSync(page, 'utf8').matchAll(/^```\w+\n(?:#|\/\/) ([\w./-]+\.\w+)\n(.*?)^```$/gms);
  return new Map(Array.from(blocks, ([, name, text]) => [name!, text!]));
}

/** The text of a file that a page shows. @throws Error if the page shows none of this name */
export function fileOfPage(page: string, name: string): string {
  const files = filesOfPage(page);
  const text = files.get(name);
  if (text === undefined) throw new Error(`${page} shows no ${name}; it shows ${[...files.keys()].join(', ')}`);
  return text;
}

/** Replaces texts, each at every place. @throws Error for a text that is not there: the page has changed, and the test must follow */
export function replaced(text: string, replacements: readonly (readonly [from: string, to: string])[]): string {
  for (const [from, to] of replacements) {
    if (!text.includes(from)) throw new Error(`"${from}" is not in the file:\n${text}`);
    text = text.replaceAll(from, to);
  }
  return text;
}
