import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Runs promtool with this input. */
export async function promtool(commandArguments: readonly string[], input = '') {
  const child = spawn('promtool', commandArguments, { stdio: ['pipe', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  // It may have ended by then: the output says why.
  child.stdin.on('error', () => undefined).end(input);
  const [code] = (await once(child, 'close')) as [number];
  return { code, output };
}

/** Reads a text with Prometheus's parser of OpenMetrics. */
export async function parseOpenMetrics(t: { after(fn: () => Promise<void>): void }, text: string) {
  const folder = await temporaryFolder(t);
  // This command of promtool needs a timestamp, in seconds, for each sample.
  const now = Math.floor(Date.now() / 1000);
  const timed = text.replace(/^([^#\n]\S*(?:\{.*?\})? \S+)/gm, `$1 ${now}`);
  const file = join(folder, 'metrics');
  await writeFile(file, timed);
  return promtool(['tsdb', 'create-blocks-from', 'openmetrics', file, folder]);
}
