/**
 * `npm run loadtest`: the story, or with --ladder its variants, or with --scenario a realistic test. Each is a command of its own,
 * with flags of its own.
 */
const name = process.argv.includes('--ladder')
  ? 'ladder'
  : process.argv.some((argument) => argument.startsWith('--scenario'))
    ? 'scenario'
    : 'story';
await import(new URL(`${name}.js`, import.meta.url).href);
