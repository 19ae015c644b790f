import type { SourceMutants } from './mutants.ts';

/**
 * The source with a call at the start of each function that appends `<file>:<index of the function>` to `record` when it
 * first runs, and `<file>:-1` when the module is loaded.
 */
export function recordReach(file: string, source: string, { functions }: SourceMutants, record: string): string {
  let marked = source;
  for (const [index, offset] of [...functions.entries()].sort(([, a], [, b]) => b - a)) {
    marked = `${marked.slice(0, offset)} reached__(${index}); ${marked.slice(offset)}`;
  }
  // A function declaration is hoisted: it is there for modules that import each other. The client runs in browsers, too.
  return `${marked}
function reached__(index: number): void {
  const own = reached__ as unknown as { seen?: Set<number> };
  own.seen ??= new Set();
  if (own.seen.has(index) || typeof process === 'undefined') return;
  own.seen.add(index);
  const { appendFileSync } = process.getBuiltinModule('fs');
  appendFileSync(${JSON.stringify(record)}, ${JSON.stringify(`${file}:`)} + index + '\\n');
}
reached__(-1);
`;
}
