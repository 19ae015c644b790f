import { mkdir, writeFile } from 'node:fs/promises';
import { conditionsOf } from '../fanout/conditions.ts';
import type { Conditions } from '../fanout/conditions.ts';
import { CLIENT_CORE, pinThisProcess } from '../processes/pinning.ts';
import { startStack } from '../story/stack.ts';
import { USAGE, readFlags } from './flags.ts';
import { markdownReport, textReport } from './report.ts';
import type { ScenarioResult } from './result.ts';
import { runScenario } from './run.ts';

const FOLDER = 'loadtest/results';
const PACKAGES = ['ws', 'graphql', 'graphql-ws', 'kafkajs', 'ioredis'].map((name) => `node_modules/${name}`);

/** Runs `npm run loadtest -- --scenario …` on its own Kafka and Redis, and writes the results. Resolves with the exit code. */
export async function scenarioCommand(words: readonly string[], signal: AbortSignal): Promise<number> {
  const request = readFlags(words);
  if (!request) {
    process.stdout.write(USAGE);
    return 0;
  }
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  pinThisProcess(CLIENT_CORE);
  const stack = await startStack(say, signal);
  try {
    const { scenario, settings, out } = request;
    const result = await runScenario(scenario, settings, { ...stack, signal, onProgress: say });
    const paths = await writeResults(out, scenario.question, result, {
      ...conditionsOf(PACKAGES),
      stack: stack.kind,
      command: `npm run loadtest -- ${words.join(' ')}`,
    });
    process.stdout.write(`\n${textReport(result)}\n${paths.join(' ')}\n`);
    return result.faults.length === 0 ? 0 : 1;
  } finally {
    await stack.stop();
  }
}

async function writeResults(
  name: string,
  question: string,
  result: ScenarioResult,
  conditions: Conditions,
): Promise<string[]> {
  const files = {
    [`${FOLDER}/${name}.json`]: `${JSON.stringify({ conditions, ...result }, null, 2)}\n`,
    [`${FOLDER}/${name}.md`]: markdownReport(question, result, conditions),
  };
  await mkdir(FOLDER, { recursive: true });
  for (const [path, text] of Object.entries(files)) await writeFile(path, text);
  return Object.keys(files);
}
