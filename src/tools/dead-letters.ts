import { readSettings } from '../config/config.ts';
import { DEAD_LETTER_ACTIONS, runDeadLetterCommand } from '../kafka/dead-letter/dead-letter-commands.ts';
import type { DeadLetterCommand } from '../kafka/dead-letter/dead-letter-commands.ts';
import { FORMER_GROUP_ID } from '../kafka/group-id.ts';
import { oneWord, positiveInteger, readArguments } from './command.ts';
import { commandLog } from './command-log.ts';
import { deadLetterJson, deadLetterLine } from './dead-letter-line.ts';
import { commandEnvironment } from './environment.ts';
import { checkTopicName } from './topic-name.ts';
import { withKafka } from './with-kafka.ts';

export const usage = `Lists, replays or drops dead letters: records that crier could not decode.

Usage: crier dead-letters list | replay | drop [options]

  list               prints one line for each: position, reason, age, size, key
  replay             writes the original records (key, value, headers, timestamp) to their original partitions
  drop               marks them as done; Kafka deletes them after the topic's retention time

  --topic <name>     only dead letters of this topic
  --reason <reason>  only dead letters with this reason (not_json, too_large, ...)
  --limit <count>    at most this number
  --dry-run          prints what would be replayed or dropped, and changes nothing
  --json             prints a line of JSON for each dead letter, and for the result of replay and drop
  --help             prints this text

Settings are crier's environment variables, and the file .env in the working directory: KAFKA_BROKERS, KAFKA_TLS,
KAFKA_SASL_…, KAFKA_DEAD_LETTER_TOPIC, KAFKA_GROUP_ID.
Commits of the consumer group <KAFKA_GROUP_ID>-dead-letters (crier-dead-letters if it is not set) mark dead letters as
done, so no record is replayed twice. A command that is killed may have replayed up to 100 records without a commit. A
record that is too large for its topic, or of which a part was omitted, cannot be replayed, and stays.
Exits with 1 after an error, or if a record could not be replayed.
`;

const PROGRESS_INTERVAL_MS = 2000;

export async function run(args: readonly string[]): Promise<number> {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const options = { topic: text, reason: text, limit: text, 'dry-run': flag, json: flag } as const;
  const { values, positionals } = readArguments('dead-letters', args, { options, maxPositionals: 1 });
  const command = commandOf(values, positionals);
  const shown = values.json ? deadLetterJson : deadLetterLine;
  const config = readSettings(commandEnvironment());
  const log = commandLog(config);
  let reportedAt = performance.now();
  const { done, refused } = await withKafka({ settings: config, log }, (kafka) =>
    runDeadLetterCommand(command, {
      topic: config.KAFKA_DEAD_LETTER_TOPIC,
      groupId: `${config.KAFKA_GROUP_ID || FORMER_GROUP_ID}-dead-letters`,
      ...kafka,
      onEntry: (entry) => {
        if (command.action === 'list' || command.isDryRun) process.stdout.write(`${shown(entry)}\n`);
        else if (command.action === 'replay' && entry.facts.isPartial) {
          process.stderr.write(`cannot be replayed, a part was omitted: ${deadLetterLine(entry)}\n`);
        }
      },
      onTooLarge: (entry) => {
        process.stderr.write(`cannot be replayed, too large for its topic: ${deadLetterLine(entry)}\n`);
      },
      onProgress: (outcome) => {
        if (performance.now() - reportedAt < PROGRESS_INTERVAL_MS) return;
        reportedAt = performance.now();
        process.stderr.write(`${outcome.done} so far\n`);
      },
    }),
  );
  if (values.json && command.action !== 'list' && !command.isDryRun) {
    process.stdout.write(`${JSON.stringify({ action: command.action, done, refused })}\n`);
    return refused > 0 ? 1 : 0;
  }
  const verb = { list: 'listed', replay: 'replayed', drop: 'dropped' }[command.action];
  const remainder = refused > 0 ? `, ${refused} cannot be replayed and stay` : '';
  const summary = values.json ? process.stderr : process.stdout;
  summary.write(`${command.isDryRun ? 'would have been ' : ''}${verb}: ${done}${remainder}\n`);
  return refused > 0 ? 1 : 0;
}

export const words = (): readonly string[] => DEAD_LETTER_ACTIONS;

interface Values {
  readonly topic?: string;
  readonly reason?: string;
  readonly limit?: string;
  readonly 'dry-run'?: boolean;
  readonly json?: boolean;
}

function commandOf({ topic, reason, limit, ...flags }: Values, [name]: readonly string[]): DeadLetterCommand {
  if (topic !== undefined) checkTopicName('--topic', topic);
  const action = oneWord(DEAD_LETTER_ACTIONS, name);
  const most = limit === undefined ? Infinity : positiveInteger('--limit', limit);
  return { action, isDryRun: flags['dry-run'] ?? false, topic, reason, limit: most };
}
