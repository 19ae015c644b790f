import { PROGRAMS, installPrograms, missingPrograms } from './programs.ts';

/** `node dist/deploy/install-programs.js`: what the stack and the tests need of this machine. */
try {
  await installPrograms(await missingPrograms(PROGRAMS));
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
