import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { startKafkaBroker } from '../../stack/kafka-broker.ts';
import { installPrograms, missingPrograms } from '../../stack/programs.ts';
import { stopSignal } from '../../stack/stop-signal.ts';
import { CLIENTS_PAGE } from './client.ts';
import { DRIVERS } from './drivers.ts';
import type { Driver } from './drivers.ts';
import { NO, TOLD, Trial, YES } from './matrix.ts';
import type { Column, Row } from './matrix.ts';
import { rowsOfPage, withTable } from './page-table.ts';
import type { PageRow } from './page-table.ts';
import { Pods } from './pods.ts';

const USAGE = `npm run clients:matrix [-- [--check] [<word of a client's name> ...]]

Runs clients against a worker and a gateway, and writes what each does into ${CLIENTS_PAGE}.

  --check  writes nothing; fails if a client does something else than the page says
`;

const EXPLAINED: readonly string[] = [YES, TOLD, NO];

const rowOf = (page: readonly PageRow[], { name, transport }: Driver) =>
  page.find((row) => row.transport === transport && row.client.startsWith(`${name} `));

async function run(pods: Pods, driver: Driver): Promise<Partial<Row>> {
  const { name, version, transport, install, reasons = {} } = driver;
  const start = await install();
  process.stdout.write(`${name} ${version()}, ${transport}:`);
  const onCell = (column: Column, outcome: string) => void process.stdout.write(` ${column} ${outcome}`);
  const left = new Set(Object.keys(reasons) as Column[]);
  const trial = new Trial(pods, start);
  const row = transport === 'HTTP' ? await trial.query(onCell) : await trial.run(left, onCell);
  process.stdout.write('\n');
  return row;
}

/** @returns whether each outcome has its explanation, and is that of the page if it is checked */
async function runAll(words: readonly string[], isCheck: boolean, stop: AbortSignal): Promise<boolean> {
  const ends: (() => unknown)[] = [];
  const scope = { after: (end: () => unknown) => void ends.unshift(end) };
  try {
    await installPrograms(await missingPrograms(['redis-server', 'java', 'mvn']));
    const kafka = await startKafkaBroker();
    scope.after(() => kafka.stop());
    const pods = await Pods.start(scope, kafka.address);
    const page = await rowsOfPage();
    const rows = DRIVERS.map((driver): [Driver, Partial<PageRow>] => [driver, rowOf(page, driver) ?? {}]);
    let isRight = true;
    for (const entry of rows) {
      const [driver, written] = entry;
      if (words.length > 0 && !words.some((word) => driver.name.includes(word))) continue;
      stop.throwIfAborted();
      const row = (entry[1] = await run(pods, driver));
      for (const [column, outcome] of Object.entries(row) as [Column, string][]) {
        if (EXPLAINED.includes(outcome) && (!isCheck || outcome === written[column])) continue;
        isRight = false;
        process.stdout.write(`  ${column}: ${outcome}${isCheck ? `; the page: ${written[column]}` : ''}\n`);
      }
      if (!isCheck) await writeFile(CLIENTS_PAGE, await withTable(await readFile(CLIENTS_PAGE, 'utf8'), rows));
    }
    return isRight;
  } finally {
    for (const end of ends) await end();
  }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { check: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
});
if (values.help) process.stdout.write(USAGE);
else process.exit((await runAll(positionals, values.check, stopSignal())) ? 0 : 1);
