import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { TestContext } from 'node:test';
import { freePorts } from '../../stack/port.ts';
import { signalGroup } from '../support/process-group.ts';
import { waitFor } from '../support/wait-for.ts';

const PATIENCE_MS = 60_000;

/** `npm install` and `npm start` in the page of an example, as its README says. The page's address; ends with the test. */
export async function startPageServer(t: TestContext, example: string, crierUrl: string): Promise<string> {
  const folder = resolve('examples', example, 'page');
  // npm writes this file last.
  if (!existsSync(join(folder, 'node_modules', '.package-lock.json'))) {
    // `npm test` passes on this project's engine-strict.
    const flags = ['--no-audit', '--ignore-scripts', '--engine-strict=false', '--loglevel=error'];
    execFileSync('npm', ['install', ...flags], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  }
  const [port] = await freePorts(1);
  const server = spawn('npm', ['start', '--', '--host', '127.0.0.1', '--port', `${port}`, '--strictPort'], {
    cwd: folder,
    // In CI, Vite colours its output even into a pipe.
    env: { ...process.env, CRIER_URL: crierUrl, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    // npm's children get no signal from npm.
    detached: true,
  });
  const end = () => signalGroup(server.pid!, 'SIGKILL');
  process.once('exit', end);
  t.after(() => {
    process.removeListener('exit', end);
    end();
  });
  let output = '';
  for (const stream of [server.stdout, server.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await waitFor('the page server', () => output.includes('Local:') || server.exitCode !== null, PATIENCE_MS);
  if (server.exitCode !== null) throw new Error(`the page server ended: ${output}`);
  return `http://127.0.0.1:${port}/`;
}
