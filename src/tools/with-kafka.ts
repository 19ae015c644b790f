import { didYouMean } from '../base/did-you-mean.ts';
import { SetupError } from '../base/errors.ts';
import { diagnose, failureOf, reasonOf } from '../kafka/client/access/connection-fix.ts';
import { createKafkaClient } from '../kafka/client/kafka-client.ts';
import type { KafkaClient } from '../kafka/client/kafka-client.ts';
import { Cluster } from '../kafka/client/cluster.ts';
import { firstError, isKafkaError, isTooLarge, isUnreached } from '../kafka/client/kafka-errors.ts';
import type { Logger } from '../base/log.ts';
import type { Settings } from '../config/settings.ts';

export interface OpenKafka {
  readonly client: KafkaClient;
  readonly cluster: Cluster;
}

export interface WithKafkaOptions {
  readonly settings: Settings;
  readonly log: Logger;
  /** What the message adds if the settings name no brokers. */
  readonly hint?: string;
}

/**
 * Opens the configured brokers for a command, and closes them after `use`.
 * @throws SetupError if no brokers are configured, or for a failure of Kafka: unreachable brokers and missing rights need no stack
 */
export async function withKafka<Result>(
  { settings, log, hint = '' }: WithKafkaOptions,
  use: (kafka: OpenKafka) => Promise<Result>,
): Promise<Result> {
  if (settings.KAFKA_BROKERS.length === 0)
    throw new SetupError(`KAFKA_BROKERS: expected host:port, separated by commas, got none${hint}`);
  const cluster = new Cluster(() => createKafkaClient(settings, log));
  const client = createKafkaClient(settings, log);
  try {
    return await use({ client, cluster });
  } catch (error) {
    throw (await kafkaProblem(error, settings)) ?? error;
  } finally {
    cluster.close();
    client.destroy();
  }
}

/** What a person has to know of a failure of Kafka, who needs no stack; undefined for every other error. */
export async function kafkaProblem(failure: unknown, settings: Settings): Promise<SetupError | undefined> {
  const error = firstError(failure);
  if (!isKafkaError(error)) return undefined;
  if (isTooLarge(error))
    return new SetupError(`${error.message}; shorten it, or raise max.message.bytes of the topic`, { cause: error });
  if (!isUnreached(error)) return new SetupError(error.message, { cause: error });
  const what = failureOf(error, settings.KAFKA_BROKERS);
  return new SetupError(`${what}: ${reasonOf(error)}; ${await diagnose(error, settings)}`, { cause: error });
}

/** Says that a topic is missing, and which one may be meant. */
export async function missingTopic(cluster: Cluster, topic: string): Promise<string> {
  return `the topic "${topic}" does not exist, or may not be seen${didYouMean(topic, await cluster.topics())}`;
}
