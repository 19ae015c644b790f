import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** The packages to install: other servers and clients only, or the profiling tools, too. */
type Purpose = 'servers' | 'tools';

const LAST_PACKAGE = { servers: '@platformatic/kafka', tools: '0x' } satisfies Record<Purpose, string>;

/** Installs loadtest/package.json unless it is installed. Runs no install scripts. */
export function installPackages(purpose: Purpose, say: (line: string) => void): void {
  if (existsSync(`loadtest/node_modules/${LAST_PACKAGE[purpose]}`)) return;
  say('Installing loadtest/package.json ...');
  const flags = ['--no-audit', '--no-fund', '--no-engine-strict', '--ignore-scripts'];
  const omit = purpose === 'servers' ? ['--omit=dev'] : [];
  execFileSync('npm', ['ci', '--prefix', 'loadtest', ...flags, ...omit], { stdio: ['ignore', 'ignore', 'inherit'] });
}
