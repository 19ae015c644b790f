import { say } from './command.ts';

/** Scenarios with a load and flags of their own. */
const OWN_COMMANDS: Readonly<Record<string, string>> = {
  storm: 'storm',
  jitter: 'public',
  avalanche: 'public',
  idle: 'public',
};

/**
 * `npm run loadtest` runs the story, with --ladder the ladder, with --scenario a scenario. Each is a separate command with its own
 * flags.
 */
function commandOf(words: readonly string[]): string {
  if (words.includes('--ladder')) return 'ladder';
  const at = words.findIndex((word) => word.startsWith('--scenario'));
  if (at < 0) return 'story';
  const scenario = words[at]!.split('=', 2)[1] ?? words[at + 1] ?? '';
  return OWN_COMMANDS[scenario] ?? 'scenario';
}

const name = commandOf(process.argv.slice(2));
try {
  await import(new URL(`${name}.js`, import.meta.url).href);
} catch (error) {
  const { code = '', message } = error as NodeJS.ErrnoException;
  // Flags are parsed before any process starts.
  if (!code.startsWith('ERR_PARSE_ARGS_')) throw error;
  say(`loadtest: ${message}`);
  process.exit(1);
}
