import { stopSignal } from '../deploy/stop-signal.ts';
import { scenarioCommand } from './scenarios/command.ts';

const signal = stopSignal();
scenarioCommand(process.argv.slice(2), signal).then(
  // Signal handlers stay, but nothing else may keep this process.
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`loadtest: ${(signal.aborted ? (signal.reason as Error) : (error as Error)).message}\n`);
    process.exit(signal.aborted ? 130 : 1);
  },
);
