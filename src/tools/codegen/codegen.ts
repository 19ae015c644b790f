import { existsSync, statSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SetupError, UsageError } from '../../base/errors.ts';
import { FolderWatcher } from '../folder-watcher.ts';
import { readArguments } from '../command.ts';
import { commandEnvironment } from '../environment.ts';
import { say } from '../../base/paint.ts';
import { unknownNamesHint } from './backend-names.ts';
import { MARK, generateTypes } from './generated-types.ts';
import { INSTALL_LINES } from './generator-packages.ts';

export const usage = `Writes the TypeScript types of a graph: its payloads, arguments, context and resolvers.

Usage: crier codegen [<graph folder>] [options]

  --out <file>  default: types.ts in the folder
  --check       writes nothing, and exits with 1 if the file is not what would be written
  --watch       writes it again when a file of the folder changes
  --json        prints { file, outcome, warnings } as JSON; outcome: written, current, or of --check outdated
  --help        prints this text

The folder is GRAPH by default, or the working directory. Resolvers are typed by it:

  import type { OrderResolvers } from './types.ts';
  export const Order: OrderResolvers = { total: (order, args, { loaders }) => … };

If objects have other fields than the schema says, sources.ts in the folder exports their types, with the same names.
Needs GraphQL Code Generator in your project:

${INSTALL_LINES}
`;

interface Target {
  readonly folder: string;
  readonly out: string;
}

export async function run(args: readonly string[]): Promise<number> {
  const flag = { type: 'boolean' } as const;
  const options = { out: { type: 'string' }, check: flag, watch: flag, json: flag } as const;
  const { values, positionals } = readArguments('codegen', args, { options, maxPositionals: 1 });
  if (values.watch && (values.check || values.json))
    throw new UsageError(`--${values.check ? 'check' : 'json'} and --watch: use one of them; see crier codegen --help`);
  if (values.out === '') throw new UsageError('--out: expected the name of a file; see crier codegen --help');
  const folder = commandEnvironment(positionals[0])['GRAPH'] || '.';
  const target = { folder, out: values.out ?? join(folder, 'types.ts') };
  const outcome = values.check ? await check(target) : await write(target);
  const hint = values.check ? undefined : await unknownNamesHint(folder);
  if (values.json) {
    const warnings = hint === undefined ? [] : [hint];
    process.stdout.write(`${JSON.stringify({ file: target.out, outcome, warnings })}\n`);
    return outcome === 'outdated' ? 1 : 0;
  }
  if (outcome === 'outdated') throw new SetupError(outdated(target));
  sayOutcome(outcome, target);
  if (hint !== undefined) say('yellow', hint);
  if (values.watch) await watch(target);
  return 0;
}

async function check({ folder, out }: Target): Promise<'current' | 'outdated'> {
  const types = await generateTypes(folder, out);
  return (await present(out)) === types ? 'current' : 'outdated';
}

function outdated({ folder, out }: Target): string {
  const command = `crier codegen ${folder}${out === join(folder, 'types.ts') ? '' : ` --out ${out}`}`;
  return `${out} is not what the schema says; run ${command}`;
}

/** @throws SetupError for a file that is somebody's own, or that cannot be written */
async function write({ folder, out }: Target): Promise<'written' | 'current'> {
  const before = await present(out);
  if (before !== undefined && !before.startsWith(MARK)) {
    throw new SetupError(`${out} exists, and crier codegen has not written it; --out names another file`);
  }
  const types = await generateTypes(folder, out);
  if (types === before) return 'current';
  await writeFile(out, types).catch((error: unknown) => {
    throw new SetupError(`${out} cannot be written: ${(error as Error).message}`, { cause: error });
  });
  return 'written';
}

function sayOutcome(outcome: 'written' | 'current', { out }: Target): void {
  if (outcome === 'written') say('green', `written: ${out}`);
  else say('dim', `${out} is current`);
}

/** Until the process is interrupted. */
async function watch(target: Target): Promise<void> {
  let isBroken = false;
  const onChange = async () => {
    try {
      // The written file is a change of the folder, too.
      const outcome = await write(target);
      if (outcome === 'written' || isBroken) sayOutcome(outcome, target);
      isBroken = false;
    } catch (error) {
      isBroken = true;
      say('red', (error as Error).message);
    }
  };
  const watcher = new FolderWatcher({ folder: target.folder, onChange });
  await watcher.start();
  say('dim', `watching ${target.folder}`);
  // The watcher does not keep a process alive.
  const alive = setInterval(() => undefined, 2 ** 30);
  await new Promise((resolve) => process.once('SIGINT', resolve));
  clearInterval(alive);
  await watcher.close();
}

/** undefined: the file does not exist. */
async function present(file: string): Promise<string | undefined> {
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory())
    throw new SetupError(`--out: ${file} is a folder; name a file in it: ${join(file, 'types.ts')}`);
  return existsSync(file) ? readFile(file, 'utf8') : undefined;
}
