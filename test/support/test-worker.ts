import { describe } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { WorkerMessage } from './test-reporter.ts';

/** What the runner tells a worker. */
export type WorkerOrder =
  /** The compiled file to run. */
  | { readonly file: string }
  /** No file is left; what is open after this time, in ms, has been forgotten. */
  | { readonly endMs: number };

const EARLY_EXIT = 70;

/**
 * A process of the test runner: runs the files that it is given, one at a time, each as a suite. The modules of `src` are loaded once for all
 * of them; loading them is most of the CPU time of a small file.
 */
process.on('message', (message: unknown) => {
  // A test may emit messages, too.
  if (typeof message !== 'object' || message === null) return;
  const order = message as WorkerOrder;
  if ('file' in order) {
    noteOpen();
    file = order.file;
    describe(order.file, async () => void (await import(pathToFileURL(order.file).href)));
    return;
  }
  if (!('endMs' in order)) return;
  noteOpen();
  // node:test ends when nothing keeps the process alive.
  process.channel?.unref();
  setTimeout(() => {
    const open = process.getActiveResourcesInfo();
    // Standard output is a pipe, too.
    const named = open.filter((kind) => kind !== 'PipeWrap');
    const kinds = new Set(named.length > 0 ? named : open);
    process.send?.({ open: Array.from(kinds, (kind) => [kind, openSince.get(kind)]) } satisfies WorkerMessage);
  }, order.endMs).unref();
});

let isDrained = false;
process.on('beforeExit', () => (isDrained = true));
// Code of a test that calls process.exit(0) would hide what node:test tells at its end.
process.on('exit', (code) => {
  if (code === 0 && !isDrained) process.exitCode = EARLY_EXIT;
});

/** The file that has run last. */
let file: string | undefined;
/** By kind of what keeps the process alive: the file since whose end there always was some of it. */
const openSince = new Map<string, string>();

function noteOpen(): void {
  if (file === undefined) return;
  const open = new Set(process.getActiveResourcesInfo());
  for (const kind of openSince.keys()) if (!open.has(kind)) openSince.delete(kind);
  for (const kind of open) if (!openSince.has(kind)) openSince.set(kind, file);
}
