import type { Message } from '../bus/bus-message.ts';
import type { ChunkTimes } from '../kafka/observer.ts';
import type { Metrics } from '../ops/metrics/metrics.ts';

/** Observes the worker's stages of a chunk once for each of its messages. */
export function stageObserver({ stages }: Metrics): (messages: readonly Message[], times: ChunkTimes) => void {
  const [fetch, decode, publish] = [stages.of('fetch'), stages.of('decode'), stages.of('publish')];
  return (messages, { startedAt, decodeMs, publishMs }) => {
    let first = 0;
    while (first < messages.length) {
      const { timestamp } = messages[first]!;
      let next = first + 1;
      while (next < messages.length && messages[next]!.timestamp === timestamp) next++;
      // Kafka's oldest message format has no timestamp.
      if (timestamp > 0) fetch.observe((startedAt - timestamp) / 1000, next - first);
      first = next;
    }
    if (messages.length === 0) return;
    decode.observe(decodeMs / 1000, messages.length);
    publish.observe(publishMs / 1000, messages.length);
  };
}
