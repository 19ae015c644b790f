import { say } from './command.ts';

/**
 * `npm run loadtest`: the story, or with --ladder its variants, or with --scenario a realistic test. Each is a command of its own,
 * with flags of its own.
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
  // Flags are read before anything is started.
  if (!code.startsWith('ERR_PARSE_ARGS_')) throw error;
  say(`loadtest: ${message}`);
  process.exit(1);
}
