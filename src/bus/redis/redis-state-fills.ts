import type { StateFill, StateFills, TopicFills } from '../state-fill.ts';
import type { RedisFence } from './redis-fence.ts';
import { fillsKey, ownersKey } from './redis-keys.ts';
import { runScript } from './redis-scripts.ts';
import type { RedisTag } from './redis-tag.ts';

const FILL = /^\d+ (-|\d+) (\S+)$/;

/** The fills of all partitions, which each tag has for its channels. */
export class RedisStateFills implements StateFills {
  readonly places: readonly string[];
  readonly #tags: readonly RedisTag[];
  readonly #fences: readonly RedisFence[];

  constructor(tags: readonly RedisTag[], fences: readonly RedisFence[]) {
    this.places = tags.map(({ name }) => name);
    this.#tags = tags;
    this.#fences = fences;
  }

  /** A fill has begun, and has ended, when it has for every tag. */
  async read(topic: string, partitions?: number): Promise<TopicFills> {
    const replies = await Promise.all(
      this.#tags.map(({ prefix, publisher, scripts }) =>
        runScript(publisher, scripts.fills, [ownersKey(prefix), fillsKey(prefix)], [topic, partitions ?? '']),
      ),
    );
    const epochs = new Set<number>();
    const places = replies.map((reply) => {
      const [epoch, ...texts] = reply as [Buffer, ...Buffer[]];
      epochs.add(Number(epoch));
      return texts.map(fillOf);
    });
    const fills = new Map<number, StateFill>();
    const count = Math.min(...places.map((place) => place.length));
    for (let partition = 0; partition < count; partition++) {
      const ofPlaces = places.map((place) => place[partition]);
      const [first] = ofPlaces;
      if (!first || !ofPlaces.every((fill) => fill?.signature === first.signature)) continue;
      fills.set(partition, ofPlaces.find((fill) => fill?.end !== undefined) ?? first);
    }
    return { partitions: count, epochs, fills };
  }

  async end(topic: string, partition: number, signature: string): Promise<void> {
    await Promise.all(this.#fences.map((fence) => fence.endFill(topic, partition, signature)));
  }
}

function fillOf(text: Buffer): StateFill | undefined {
  const [, end, signature] = FILL.exec(String(text)) ?? [];
  if (end === undefined || signature === undefined) return undefined;
  return { signature, end: end === '-' ? undefined : Number(end) };
}
