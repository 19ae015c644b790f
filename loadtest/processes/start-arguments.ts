import { readFileSync } from 'node:fs';

/** Node's flags of `npm start`, so that crier is measured as it is run. */
export function startArguments(): string[] {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { start: string } };
  return scripts.start.split(' ').filter((word) => word.startsWith('--'));
}
