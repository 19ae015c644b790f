import { barChart } from '../fanout/chart.ts';
import type { Conditions } from '../fanout/conditions.ts';
import type { Spread } from '../spread.ts';
import { printed } from './figures.ts';
import type { Parts } from './figures.ts';

/** Titles of the parts that the picture shows. */
export const HOT_CHANNEL = 'One hot channel: records of 2 KB to every pod';
export const FLOW = 'Marks of flow control to every pod';

/** What a shard sends to the pods of a fleet, and what a message costs it. */
export function capacityPicture(parts: Parts<Spread>, conditions: Conditions): string {
  const panel = (part: string, column: string, unit: string) => ({
    title: `${part}: ${column}`,
    bars: Object.entries(parts[part]!).map(([name, figures]) => {
      const value = figures[column]!.median;
      return { label: name.replace(' at a time', ''), value, text: `${printed(value)} ${unit}`.trim(), isOurs: true };
    }),
  });
  const note = `One shard of a Redis Cluster on one core; Node ${conditions['node']}, ${conditions['cpu']}; ${conditions['date']}`;
  return barChart('A fleet on one shard: npm run bench:capacity', note, [
    panel(HOT_CHANNEL, 'messages out/s', ''),
    panel(HOT_CHANNEL, 'µs/message out', 'µs'),
    panel(FLOW, 'messages out/s', ''),
    panel(FLOW, 'µs/message out', 'µs'),
  ]);
}
