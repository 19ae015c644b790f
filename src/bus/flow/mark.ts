/**
 * How far a worker has published a partition. A gateway receives it after the messages that it counts, where all come from one server.
 * Flow control counts bytes of payloads that at least one subscriber received, once for each channel.
 */
export interface Mark {
  readonly topic: string;
  readonly partition: number;
  /** Id of one lease of the partition; `bytes` begins at 0. Contains no space. */
  readonly stream: string;
  /** Bytes published since the stream began. */
  readonly bytes: number;
  /** The worker requests credit. */
  readonly isQuestion: boolean;
}

/** A gateway's answer to a mark: how far the worker may publish. */
export interface Credit {
  readonly stream: string;
  readonly gateway: string;
  /** Bytes served to the gateway's clients since the stream began. */
  readonly served: number;
  /** Bytes since the stream began up to which the worker may publish; undefined: the gateway limits the stream no longer. */
  readonly bytes: number | undefined;
}

/** Prints the text that `bus/redis/lua/publish.lua` writes. A topic's name contains no space. */
export function printMark({ topic, partition, stream, bytes, isQuestion }: Mark): string {
  return `${topic} ${partition} ${stream} ${bytes}${isQuestion ? '?' : ''}`;
}

/** undefined: the text is not a mark. Fields ` name=value` at its end are ignored, so that a later version may add some. */
export function parseMark(text: string): Mark | undefined {
  const [match, topic, partition, stream, bytes, question] =
    /^(\S+) (\d+) (\S+) (\d+)(\??)(?: [a-z]+=\S*)*$/.exec(text) ?? [];
  if (match === undefined) return undefined;
  return {
    topic: topic!,
    partition: Number(partition),
    stream: stream!,
    bytes: Number(bytes),
    isQuestion: question === '?',
  };
}

/** Prints a credit. A gateway's name contains no space. */
export function printCredit({ stream, gateway, served, bytes }: Credit): string {
  return `${stream} ${gateway} ${Math.round(served)} ${bytes === undefined ? '-' : Math.round(bytes)}`;
}

/** undefined: the text is not a credit. Fields at its end are ignored, as those of a mark. */
export function parseCredit(text: string): Credit | undefined {
  const [match, stream, gateway, served, bytes] = /^(\S+) (\S+) (-?\d+) (-|-?\d+)(?: [a-z]+=\S*)*$/.exec(text) ?? [];
  if (match === undefined) return undefined;
  return {
    stream: stream!,
    gateway: gateway!,
    served: Number(served),
    bytes: bytes === '-' ? undefined : Number(bytes),
  };
}
