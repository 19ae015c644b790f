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
  // A function declaration is hoisted, so it exists before the module runs. `typeof process`: the client also runs in browsers.
  return `${marked}
function reached__(index: number): void {
  const state = reached__ as unknown as { seen?: Set<number> };
  state.seen ??= new Set();
  if (state.seen.has(index) || typeof process === 'undefined') return;
  state.seen.add(index);
  const { appendFileSync } = process.getBuiltinModule('fs');
  appendFileSync(${JSON.stringify(record)}, ${JSON.stringify(`${file}:`)} + index + '\\n');
}
reached__(-1);
`;
}
