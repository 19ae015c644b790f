import { Cluster, Redis } from 'ioredis';
import kafkajs from 'kafkajs';
import { HASH_TAGS, tagIndexOf } from '../../src/bus/redis/cluster/hash-tags.ts';
import { parseRedisUrl } from '../../src/config/addresses/redis-address.ts';
import { AUCTION_TOPIC, auctionChannel, auctionMessages, auctionRecords } from '../fanout/auction.ts';

/** The source of a run's events. */
export interface Publisher {
  /** Publishes the next event of an auction. */
  publish(auction: number): void;
}

export interface PublisherOptions {
  readonly redisUrl: string;
  readonly kafkaBrokers?: string | undefined;
  readonly channelPrefix: string;
  /** Whether messages start with the coordinates that crier's worker writes (`src/bus/coordinates.ts`). */
  readonly hasCoordinates?: boolean | undefined;
  readonly auctionIds: readonly number[];
}

export async function createPublisher(options: PublisherOptions): Promise<Publisher> {
  return options.kafkaBrokers === undefined ? toRedis(options) : toKafka(options, options.kafkaBrokers);
}

function toRedis({ redisUrl, channelPrefix, auctionIds, hasCoordinates }: PublisherOptions): Publisher {
  const send = senderOf(redisUrl);
  const channels = auctionIds.map((id) => auctionChannel(channelPrefix, id));
  const messages = auctionIds.map(auctionMessages);
  const epoch = Date.now();
  let events = 0;
  return {
    publish(auction) {
      const header = hasCoordinates ? `@0 ${events} ${Date.now()} ${epoch}\n` : '';
      send(channels[auction]!, header + messages[auction]!(events++));
    },
  };
}

/** Publishes a text on a channel: in a Redis Cluster to the shard, and under the name, that crier gives the channel. */
function senderOf(redisUrl: string): (channel: string, text: string) => void {
  const address = parseRedisUrl(redisUrl);
  if (address.kind !== 'cluster') {
    const redis = new Redis(address.target.options);
    return (channel, text) => void redis.publish(channel, text);
  }
  const cluster = new Cluster([...address.seeds]);
  return (channel, text) => void cluster.spublish(HASH_TAGS[tagIndexOf(channel)]!.name + channel, text);
}

/** Records of 2 KB in one request; a broker takes 1 MB. */
const MAX_BATCH = 256;

/** Sends the records of one event-loop turn together, in the order of the turns. */
async function toKafka({ auctionIds }: PublisherOptions, brokers: string): Promise<Publisher> {
  const kafka = new kafkajs.Kafka({ brokers: [brokers], logLevel: kafkajs.logLevel.ERROR });
  const producer = kafka.producer({ allowAutoTopicCreation: false });
  await producer.connect();
  const records = auctionIds.map(auctionRecords);
  let events = 0;
  const waiting: { key: string; value: string }[] = [];
  let sending = Promise.resolve();
  const send = async (): Promise<void> => {
    const messages = waiting.splice(0, MAX_BATCH);
    if (messages.length > 0) await producer.send({ topic: AUCTION_TOPIC, messages, acks: 1 });
    if (waiting.length > 0) await send();
  };
  return {
    publish(auction) {
      waiting.push({ key: String(auctionIds[auction]), value: records[auction]!(events++) });
      if (waiting.length > 1) return;
      setImmediate(() => {
        sending = sending.then(send);
      });
    },
  };
}
