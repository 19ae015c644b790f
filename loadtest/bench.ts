import { runCommand } from './runner/command.ts';
import type { Flags } from './runner/flags.ts';
import { runScenario } from './runner/scenario.ts';
import type { Scenario } from './runner/scenario.ts';

/** The scenarios of `npm run bench`, each a file here. */
const SCENARIOS: readonly string[] = [
  ...['capacity', 'convert', 'cores', 'drain', 'fanout', 'idle', 'ladder', 'pace', 'profile', 'publish'],
  ...['kafka-clients', 'rebalance', 'reload', 'resume', 'soak', 'start', 'state', 'storm', 'story', 'upgrade'],
];

/** `npm run loadtest` runs the story, with --ladder the ladder, with --scenario the storm or pace. */
function ofLoadTest(words: readonly string[]): string {
  if (words.includes('--ladder')) return 'ladder';
  if (!words.some((word) => word.startsWith('--scenario'))) return 'story';
  return words.some((word) => word === 'pace' || word === '--scenario=pace') ? 'pace' : 'storm';
}

const USAGE = `Usage: npm run bench -- <scenario> [flags]

Scenarios: ${SCENARIOS.join(', ')}
\`npm run bench -- <scenario> --help\` lists the flags of one.
`;

const [first = '', ...rest] = process.argv.slice(2);
/** `npm run profile -- cpu` names what it records without a flag. */
const words = first === 'profile' && /^\w/.test(rest[0] ?? '') ? ['--kind', ...rest] : rest;
const name = first === 'loadtest' ? ofLoadTest(words) : first;
if (SCENARIOS.includes(name)) {
  const { scenario } = (await import(new URL(`${name}.js`, import.meta.url).href)) as { scenario: Scenario<Flags> };
  runScenario(scenario, words);
} else if (['', '-h', '--help'].includes(first)) {
  process.stdout.write(USAGE);
} else {
  const expected = `expected one of ${SCENARIOS.join(', ')}, got "${name}"`;
  runCommand('bench', () => Promise.reject(new Error(expected)));
}
