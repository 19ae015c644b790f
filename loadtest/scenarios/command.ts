import { conditionsOf } from '../fanout/conditions.ts';
import { CLIENT_CORE, pinThisProcess } from '../processes/pinning.ts';
import { writeResult } from '../result-files.ts';
import { startStack } from '../story/stack.ts';
import { USAGE, readFlags } from './flags.ts';
import { markdownReport, textReport } from './report.ts';
import { runScenario } from './run.ts';

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
    const command = `npm run loadtest -- ${words.join(' ')}`;
    const conditions = { ...conditionsOf(PACKAGES), stack: stack.kind, command };
    const md = markdownReport(scenario.question, result, conditions);
    const paths = await writeResult(out, { conditions, ...result }, { md });
    process.stdout.write(`\n${textReport(result)}\n${paths.join(' ')}\n`);
    return result.faults.length === 0 ? 0 : 1;
  } finally {
    await stack.stop();
  }
}
