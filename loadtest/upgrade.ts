import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runCommand, say } from './command.ts';
import { conditionsList, conditionsOf } from './fanout/conditions.ts';
import { numberFlag } from './number-flag.ts';
import { CLIENT_CORE, pinThisProcess } from './processes/pinning.ts';
import { writeResult } from './result-files.ts';
import { Rollout } from './rollout/rollout.ts';
import { ALL_STAGES, Upgrade } from './rollout/upgrade.ts';
import { upgradeFaults, upgradeTables } from './rollout/upgrade-report.ts';
import type { UpgradeResult } from './rollout/upgrade-report.ts';
import { startStack } from './story/stack.ts';
import { markdownTable, textTable } from './table.ts';

const USAGE = `Upgrades a worker and two gateways pod by pod from another build to this one, and back, under load.

Usage: npm run bench:upgrade -- --base <checkout> [flags]

  --base <folder>      a checkout of the other version, built (npm run build)
  --stock <number>     stock graphql-ws clients; default: 300
  --resuming <number>  clients of @crier/client, which resumes; default: 300
  --rate <number>      records a second; default: 200
  --auctions <number>  auctions, of which a client watches one, or those of one event; default: 100
  --seconds <number>   load in each stage after its replacements; default: 4
  --out <name>         loadtest/results/<name>.json and .md; default: upgrade
  --help

Gateways first, then the worker, and back in the reverse order; then the worker first, and back. In each stage a gateway is stopped
for 3 s, so that the worker must wait for it.
Exits with 1 if @crier/client loses an event or is told of a gap, a stock client loses one within a connection, a gateway does not
recognise a message, a pod does not end with 0, or the worker does not wait for a gateway.
`;

const SEED = 1;
const ZIPF_EXPONENT = 0.5;

const flag = (name: string) => ({ type: 'string', default: name }) as const;
const { values } = parseArgs({
  options: {
    base: { type: 'string' },
    stock: flag('300'),
    resuming: flag('300'),
    rate: flag('200'),
    auctions: flag('100'),
    seconds: flag('4'),
    out: flag('upgrade'),
    help: { type: 'boolean', short: 'h' },
  },
});

async function main(signal: AbortSignal): Promise<void> {
  if (values.help) return void process.stdout.write(USAGE);
  const base = baseOf(values.base);
  const stock = numberFlag('stock', values.stock);
  const resuming = numberFlag('resuming', values.resuming);
  const auctions = numberFlag('auctions', values.auctions);
  const recordsPerSecond = numberFlag('rate', values.rate);
  const secondsInStage = numberFlag('seconds', values.seconds);
  pinThisProcess(CLIENT_CORE);
  const stack = await startStack(say, signal);
  const { kafkaBrokers, redisUrl } = stack;
  const rollout = new Rollout({
    ...{ kafkaBrokers, redisUrl, signal, seed: SEED, zipfExponent: ZIPF_EXPONENT },
    ...{ stock, resuming, auctions, recordsPerSecond },
  });
  const end = () => void rollout.close();
  signal.addEventListener('abort', end);
  try {
    await rollout.start();
    const upgrade = new Upgrade(rollout, { base, stages: ALL_STAGES, secondsInStage, signal });
    const stages = await upgrade.run();
    const fleet = await rollout.settle();
    await publish({ stages, endings: upgrade.endings, unrecognised: await upgrade.unrecognised(), fleet });
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', end);
    await rollout.close();
    await stack.stop();
  }
}

/** Path of the other build's script. @throws Error if there is none. */
function baseOf(folder: string | undefined): string {
  if (folder === undefined) throw new Error('--base: expected the folder of another checkout');
  const script = resolve(folder, 'dist/src/main.js');
  if (!existsSync(script)) throw new Error(`--base: ${script} does not exist: run npm run build there`);
  return script;
}

async function publish(result: UpgradeResult): Promise<void> {
  const faults = upgradeFaults(result);
  const tables = upgradeTables(result);
  const flags = Object.entries(values)
    .filter(([name]) => name !== 'base')
    .map(([name, value]) => `--${name} ${value}`)
    .join(' ');
  const packages = ['ws', 'graphql', 'graphql-ws'].map((name) => `node_modules/${name}`);
  const conditions = { ...conditionsOf(packages), flags };
  const verdict = faults.length === 0 ? 'Nothing that is promised was lost.' : faults.join('\n\n');
  const md = `# Results: ${values.out}\n\n${tables.map(markdownTable).join('\n')}\n${verdict}\n\n${conditionsList(conditions)}`;
  const paths = await writeResult(values.out, { conditions, ...result, faults }, { md });
  process.stdout.write(`\n${tables.map(textTable).join('\n')}\n${paths.join(' ')}\n`);
  for (const fault of faults) say(`upgrade: ${fault}`);
  if (faults.length > 0) process.exitCode = 1;
}

runCommand('upgrade', main);
