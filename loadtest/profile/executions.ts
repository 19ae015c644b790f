/** V8's counts for a script (https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-ScriptCoverage). */
export interface ScriptCoverage {
  readonly url: string;
  readonly functions: readonly { readonly ranges: readonly CountedRange[] }[];
}

interface CountedRange {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

/** How often the code at an offset was executed: the count of the innermost range around it. V8 leaves out what never ran. */
export function executionsAt(offset: number, { functions }: ScriptCoverage): number {
  let innermost: CountedRange | undefined;
  for (const { ranges } of functions) {
    for (const range of ranges) {
      if (offset < range.startOffset || offset >= range.endOffset) continue;
      if (!innermost || range.endOffset - range.startOffset <= innermost.endOffset - innermost.startOffset)
        innermost = range;
    }
  }
  return innermost?.count ?? 0;
}
