import { GO_PROGRAMS, goProgram } from './go-programs.ts';

/** `node dist/stack/install-go-programs.js`: builds the programs that the tests of the Helm chart need. */
try {
  for (const name of GO_PROGRAMS) await goProgram(name);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
