import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** What loadtest/package.json is for: the servers that crier is measured against, or the tools that look into it, too. */
type Purpose = 'servers' | 'tools';

const LAST_PACKAGE = { servers: 'mercurius', tools: '0x' } satisfies Record<Purpose, string>;

/** Installs loadtest/package.json where it is not there yet. No install script is run: nothing is downloaded but packages. */
export function installPackages(purpose: Purpose, say: (line: string) => void): void {
  if (existsSync(`loadtest/node_modules/${LAST_PACKAGE[purpose]}`)) return;
  say('installs loadtest/package.json');
  const flags = ['--no-audit', '--no-fund', '--no-engine-strict', '--ignore-scripts'];
  const omit = purpose === 'servers' ? ['--omit=dev'] : [];
  execFileSync('npm', ['ci', '--prefix', 'loadtest', ...flags, ...omit], { stdio: ['ignore', 'ignore', 'inherit'] });
}
