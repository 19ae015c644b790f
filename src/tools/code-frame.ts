import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getLocation, printSourceLocation, Source } from 'graphql';
import type { SourceLocation } from 'graphql';

/** `schema.graphql:3:5: …` */
const PLACE = /^([^\s:]+):(\d+)(?::(\d+))?: /;

/** `path "orderId"`, or a quoted text alone. */
const QUOTED = /(?:(\w+) )?"([^"\n]+)"/g;

/** The lines of a graph's problems, each with the place in its file below it, where that is known. Babel's have theirs already. */
export function framed(problems: readonly string[], folder: string): string[] {
  return problems.flatMap((problem, i) => {
    const frame = problems[i + 1] === '' ? undefined : frameOf(problem, folder);
    return frame === undefined ? [problem] : [problem, '', frame, ''];
  });
}

function frameOf(problem: string, folder: string): string | undefined {
  const [place, file, line, column] = PLACE.exec(problem) ?? [];
  if (file === undefined) return undefined;
  try {
    const source = new Source(readFileSync(join(folder, file), 'utf8'));
    const location =
      column === undefined
        ? locationOf(problem.slice(place!.length), source, Number(line))
        : { line: Number(line), column: Number(column) };
    // Its first line repeats the place.
    return printSourceLocation(source, location).split('\n').slice(1).join('\n');
  } catch {
    return undefined;
  }
}

/** Where the first text stands that the message quotes from the declaration that begins in the line; else where the line begins. */
function locationOf(message: string, source: Source, line: number): SourceLocation {
  const lines = source.body.split('\n');
  const start = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0);
  const text = upToLastParenthesis(lines.slice(line - 1));
  for (const [, label, quoted] of message.matchAll(QUOTED)) {
    const offset = offsetOf(quoted!, label, text);
    if (offset !== undefined) return getLocation(source, start + offset);
  }
  return { line, column: text.search(/\S|$/) + 1 };
}

/** The first line, and those after it until each `(` is closed. */
function upToLastParenthesis(lines: readonly string[]): string {
  let open = 0;
  const end = lines.findIndex((line) => {
    for (const sign of line) open += sign === '(' ? 1 : sign === ')' ? -1 : 0;
    return open <= 0;
  });
  return lines.slice(0, end < 0 ? 1 : end + 1).join('\n');
}

/** Where a quoted text is the value of the argument that its label names, is in quotes, or is a word. */
function offsetOf(quoted: string, label: string | undefined, text: string): number | undefined {
  const word = quoted.replaceAll(/[^\w\s]/g, String.raw`\$&`);
  const patterns = [`"${word}"`, String.raw`(?<!\w)${word}(?!\w)`];
  if (label !== undefined) patterns.unshift(String.raw`(?<=\b${label}:\s*)"${word}"`);
  return patterns.map((pattern) => text.search(new RegExp(pattern))).find((offset) => offset >= 0);
}
