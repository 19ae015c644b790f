import { readFileSync } from 'node:fs';

/** What `npm start` gives node before the script, so that crier is measured as it is run. */
export function startArguments(): string[] {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { start: string } };
  return scripts.start.split(' ').filter((word) => word.startsWith('--'));
}
