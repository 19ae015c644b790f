import { runCommand } from './command.ts';
import { scenarioCommand } from './scenarios/command.ts';

runCommand('loadtest', (signal) => scenarioCommand(process.argv.slice(2), signal));
