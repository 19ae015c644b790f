#!/usr/bin/env node
import { isAbsolute, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { dependenciesOf } from './dependencies.js';
import { createFolder } from './folder.js';
import { projectFiles, starterGraph } from './project-files.js';

const USAGE = `Makes a project for crier: GraphQL subscriptions from Kafka topics.

Usage: npm create @crier [folder] [-- --topic <name> | --sample <file>]

  folder           default: crier-app; it must be empty or new
  --topic <name>   prints the command that makes the graph from the records of this topic, instead of a graph with sample records
  --sample <file>  the same, from records of JSON in a file
  --help           prints this text
`;

/** A mistake of the caller. */
class ArgumentError extends Error {}

async function main() {
  const { values, positionals } = readArguments();
  if (values.help) return write(USAGE);
  const folder = positionals[0] ?? 'crier-app';
  const source = sourceOf(values, folder);
  const { dependencies, unpacked } = dependenciesOf(folder);
  await createFolder(folder, { ...projectFiles(folder, dependencies), ...(source ? {} : starterGraph()) });
  const commands = [
    ...(unpacked ? [`(cd ${quoted(unpacked)} && npm ci && npm run archives)`] : []),
    ...(folder === '.' ? [] : [`cd ${quoted(folder)}`]),
    'npm install',
    ...(source ? [`${source.settings}npx --no-install crier init graph ${source.option}`] : []),
    'npm run dev',
  ];
  const types = '\nOnce graph/resolvers.ts exists, `npx --no-install crier codegen graph` writes its types.\n';
  const own =
    '\nFor a topic of your own:\n\n  KAFKA_BROKERS=localhost:9092 npx --no-install crier init my-graph --topic my-topic\n';
  write(`A project for crier is in ${folder}. Next:

${commands.map((command) => `  ${command}\n`).join('')}
Then open http://localhost:4000/.
${source ? '' : own}${types}`);
}

function readArguments() {
  const text = /** @type {const} */ ({ type: 'string' });
  const options = { topic: text, sample: text, help: /** @type {const} */ ({ type: 'boolean', short: 'h' }) };
  try {
    const parsed = parseArgs({ options, allowPositionals: true });
    if (parsed.positionals.length <= 1) return parsed;
    throw new Error(
      `one folder is expected, got ${parsed.positionals.join(', ')}; npm passes on only options after --`,
    );
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
    const [option] = (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION' && /'(-[^']*)'/.exec(message)?.slice(1)) || [];
    const names = Object.keys(options).map((name) => `--${name}`);
    const problem = option === undefined ? message : `unknown option "${option}"; options are ${names.join(', ')}`;
    throw new ArgumentError(`${problem}\n\n${USAGE}`);
  }
}

/**
 * Where records come from; undefined: the starter graph has its own.
 * @param {{ topic?: string, sample?: string }} values
 * @param {string} folder of the project, in which the command runs
 */
function sourceOf({ topic, sample }, folder) {
  if (topic !== undefined) return { option: `--topic ${quoted(topic)}`, settings: 'KAFKA_BROKERS=localhost:9092 ' };
  if (sample === undefined) return undefined;
  const file = sample === '-' || isAbsolute(sample) ? sample : relative(folder, sample);
  return { option: `--sample ${quoted(file)}`, settings: '' };
}

/** As a word of a POSIX shell. @param {string} text */
function quoted(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** @param {string} text */
function write(text) {
  process.stdout.write(text);
}

main().catch((/** @type {Error} */ error) => {
  process.stderr.write(`create-crier: ${error.message}\n`);
  process.exitCode = error instanceof ArgumentError ? 2 : 1;
});
