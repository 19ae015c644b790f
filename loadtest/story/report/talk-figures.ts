/** Duration of the talk's flood: 4,000 sockets on one local pod, on another machine and an older Node. */
export const TALK_FLOOD_SECONDS = 240;

/** What the talk and its slides say of one step. A figure that they do not give is absent: nothing here is inferred. */
export interface TalkFigures {
  /** Records taken from Kafka, and messages sent to sockets, in the whole flood. */
  readonly received?: number;
  readonly sent?: number;
  /** Heap used by idle sockets, in MB. */
  readonly idleMegabytes?: number;
  /** Its words where it gave no figure. */
  readonly words?: string;
}

/** By step, in the talk's order. */
export const talk = {
  baseline: { received: 16, sent: 56_000, idleMegabytes: 600, words: 'over 1 GB in the flood' },
  lazyBackends: { received: 13, sent: 52_000, words: 'idle plateau lower' },
  iteration: { words: 'sent a little above baseline' },
  pubsub: { received: 20, sent: 72_000 },
  memoised: { received: 69, sent: 276_000, words: 'flood curve flatter' },
  nodeTarget: { received: 75, sent: 300_000, words: 'peaks smaller' },
  inPlace: { received: 117, sent: 476_000, words: 'flat, about 1 GB in the flood' },
  noLocations: { words: 'a little more sent; just under 1 GB in the flood' },
  /** Lazy loaders and primers, and the cache of documents and compiled operations. */
  end: { idleMegabytes: 300, words: 'about the same sent' },
} as const satisfies Readonly<Record<string, TalkFigures>>;
