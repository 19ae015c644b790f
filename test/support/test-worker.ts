import { describe } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { WorkerMessage } from './test-reporter.ts';

/** What the runner tells a worker. */
export type WorkerOrder =
  /** The compiled file to run. */
  | { readonly file: string }
  /** No file is left; what is open after this time, in ms, has been forgotten. */
  | { readonly endMs: number };

/**
 * A process of the test runner: runs the files that it is given, one at a time, each as a suite. The modules of `src` are loaded once for all
 * of them; loading them is most of the CPU time of a small file.
 */
process.on('message', (order: WorkerOrder) => {
  if ('file' in order) {
    describe(order.file, async () => void (await import(pathToFileURL(order.file).href)));
    return;
  }
  // A test may emit messages, too.
  if (!('endMs' in order)) return;
  // node:test ends when nothing keeps the process alive.
  process.channel?.unref();
  setTimeout(() => {
    const open = process.getActiveResourcesInfo();
    // Standard output is a pipe, too.
    const named = open.filter((kind) => kind !== 'PipeWrap');
    process.send?.({ open: named.length > 0 ? named : open } satisfies WorkerMessage);
  }, order.endMs).unref();
});
