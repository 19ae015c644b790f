import { say } from './command.ts';

/**
 * `npm run loadtest` runs the story, with --ladder the ladder, with --scenario a scenario. Each is a separate command with its own
 * flags.
 */
const name = process.argv.includes('--ladder')
  ? 'ladder'
  : process.argv.some((argument) => argument.startsWith('--scenario'))
    ? 'scenario'
    : 'story';
try {
  await import(new URL(`${name}.js`, import.meta.url).href);
} catch (error) {
  const { code = '', message } = error as NodeJS.ErrnoException;
  // Flags are parsed before any process starts.
  if (!code.startsWith('ERR_PARSE_ARGS_')) throw error;
  say(`loadtest: ${message}`);
  process.exit(1);
}
