import { parseArgs } from 'node:util';
import { stopSignal } from '../../stack/stop-signal.ts';
import { MATRIX } from './matrix.ts';
import { VERSIONS_PAGE, writeRow } from './page-rows.ts';

const USAGE = `npm run versions [-- [--check] [<word of a row's name> ...]]

Runs what can differ with each line of Node, each Redis and Valkey, and each Kafka, and writes how many tests passed into ${VERSIONS_PAGE}.

  --check  writes nothing
`;

/** @returns whether all passed */
async function runAll(words: readonly string[], isCheck: boolean, stop: AbortSignal): Promise<boolean> {
  const failed: string[] = [];
  for (const { name, run } of MATRIX) {
    if (words.length > 0 && !words.some((word) => name.includes(word))) continue;
    stop.throwIfAborted();
    process.stdout.write(`\n=== ${name}\n`);
    try {
      const [, passed] = /^# pass (\d+)$/m.exec(await run(stop))!;
      const date = new Date().toISOString().slice(0, 10);
      if (!isCheck)
        await writeRow(
          { name, passed: Number(passed), date },
          MATRIX.map((row) => row.name),
        );
    } catch (error) {
      failed.push(`FAILED: ${name}: ${(error as Error).message}\n`);
    }
  }
  process.stdout.write(failed.join(''));
  return failed.length === 0;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { check: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
});
if (values.help) process.stdout.write(USAGE);
else process.exit((await runAll(positionals, values.check, stopSignal())) ? 0 : 1);
