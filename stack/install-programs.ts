import { PROGRAMS, installPrograms, missingPrograms } from './programs.ts';

/** `node dist/stack/install-programs.js`: installs the programs that the stack and the tests need. */
try {
  await installPrograms(await missingPrograms(PROGRAMS));
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
