import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { printSourceLocation, Source } from 'graphql';

/** `schema.graphql:3:5: …` */
const PLACE = /^([^\s:]+):(\d+)(?::(\d+))?: /;

/** The lines of a graph's problems, each with the place in its file below it, where that is known. Babel's have theirs already. */
export function framed(problems: readonly string[], folder: string): string[] {
  return problems.flatMap((problem, i) => {
    const frame = problems[i + 1] === '' ? undefined : frameOf(problem, folder);
    return frame === undefined ? [problem] : [problem, '', frame, ''];
  });
}

function frameOf(problem: string, folder: string): string | undefined {
  const [, file, line, column] = PLACE.exec(problem) ?? [];
  if (file === undefined) return undefined;
  try {
    const text = readFileSync(join(folder, file), 'utf8');
    const place = { line: Number(line), column: column === undefined ? columnOf(text, Number(line)) : Number(column) };
    // Its first line repeats the place.
    return printSourceLocation(new Source(text), place).split('\n').slice(1).join('\n');
  } catch {
    return undefined;
  }
}

/** Where the text of a line begins, from 1. */
function columnOf(text: string, line: number): number {
  return (text.split('\n')[line - 1] ?? '').search(/\S|$/) + 1;
}
