import { bytes, count, milliseconds, perSecond, percent } from './format.ts';
import type { Figures } from './stats.ts';
import type { Level, TileOptions } from './tile.ts';

/** Of the service level objective: 99 % of the deliveries within a second. */
const SLOW_MS = 1000;

/** What an incident asks first, in this order. */
export const TILES: readonly TileOptions[] = [
  {
    title: 'Deliveries',
    value: ({ deliveries_per_second }) => perSecond(deliveries_per_second),
    detail: ({ records_per_second, events_per_second }) =>
      joined(labelled(perSecond, records_per_second, 'records'), labelled(perSecond, events_per_second, 'events')),
    lines: [({ deliveries_per_second, records_per_second }) => deliveries_per_second ?? records_per_second],
    format: perSecond,
    ceiling: 5,
  },
  {
    title: 'Latency from Kafka',
    value: ({ latency_p99_ms }) => milliseconds(latency_p99_ms),
    detail: ({ role, latency_p50_ms, kafka_lag_records }) =>
      joined(`p99 · p50 ${milliseconds(latency_p50_ms)}`, role === 'gateway' ? '' : `lag ${count(kafka_lag_records)}`),
    lines: [({ latency_p99_ms }) => latency_p99_ms, ({ latency_p50_ms }) => latency_p50_ms],
    format: milliseconds,
    ceiling: 20,
    level: ({ latency_p99_ms }) => above(latency_p99_ms, SLOW_MS, 5 * SLOW_MS),
  },
  {
    title: 'Shared results',
    value: ({ sharing_ratio }) => percent(sharing_ratio),
    detail: ({ executions_per_second }) => labelled(perSecond, executions_per_second, 'executions'),
    lines: [({ sharing_ratio }) => sharing_ratio],
    format: percent,
    ceiling: 1,
  },
  {
    title: 'Sockets',
    value: ({ sockets }) => count(sockets),
    detail: ({ operations, refusals_per_second }) =>
      joined(labelled(count, operations, 'operations'), labelled(perSecond, refusals_per_second, 'refused')),
    lines: [({ sockets }) => sockets],
    format: count,
    ceiling: 5,
    level: ({ refusals_per_second }) => above(refusals_per_second, 0, 50),
  },
  {
    title: 'Slow consumers',
    value: ({ slow_consumers }) => count(slow_consumers),
    detail: ({ queue_bytes, queue_bytes_max }) => `${bytes(queue_bytes)} wait · ${bytes(queue_bytes_max)} for one`,
    lines: [({ queue_bytes }) => queue_bytes],
    format: bytes,
    ceiling: 1024 * 1024,
    level: ({ slow_consumers }, history) => above(growth(history, slow_consumers), 0, 100),
  },
  {
    title: 'Heap',
    value: ({ heap_bytes }) => bytes(heap_bytes),
    detail: ({ heap_limit_bytes, resident_bytes }) =>
      joined(heap_limit_bytes === null ? '' : `of ${bytes(heap_limit_bytes)}`, `${bytes(resident_bytes)} resident`),
    lines: [({ heap_bytes }) => heap_bytes],
    format: bytes,
    ceiling: 64 * 1024 * 1024,
    level: ({ heap_bytes, heap_limit_bytes }) => above(heap_limit_bytes && heap_bytes / heap_limit_bytes, 0.75, 0.9),
  },
  {
    title: 'Event loop lag',
    value: ({ loop_lag_ms }) => milliseconds(loop_lag_ms),
    detail: ({ loop_busy_ratio }) => `${percent(loop_busy_ratio)} busy`,
    lines: [({ loop_lag_ms }) => loop_lag_ms],
    format: milliseconds,
    ceiling: 20,
    level: ({ loop_lag_ms, loop_busy_ratio }) => worst(above(loop_lag_ms, 100, 500), above(loop_busy_ratio, 0.9, 2)),
  },
  {
    title: 'Errors',
    value: ({ errors_per_second }) => perSecond(errors_per_second),
    detail: ({ gaps_per_second, poison_records_per_second }) =>
      joined(labelled(perSecond, gaps_per_second, 'gaps'), labelled(perSecond, poison_records_per_second, 'poison')),
    lines: [({ errors_per_second }) => errors_per_second, ({ gaps_per_second }) => gaps_per_second],
    format: perSecond,
    ceiling: 5,
    level: ({ errors_per_second, gaps_per_second, poison_records_per_second }) =>
      worst(above(errors_per_second, 0, 50), above(gaps_per_second, 0, 50), above(poison_records_per_second, 0, 50)),
  },
];

function labelled(format: (value: number | null) => string, value: number | null, label: string): string {
  return value === null ? '' : `${format(value)} ${label}`;
}

function joined(...parts: readonly string[]): string {
  return parts.filter(Boolean).join(' · ');
}

function above(value: number | null, warning: number, bad: number): Level {
  if (value === null || value <= warning) return 'good';
  return value > bad ? 'bad' : 'warning';
}

function worst(...levels: readonly Level[]): Level {
  return levels.includes('bad') ? 'bad' : levels.includes('warning') ? 'warning' : 'good';
}

/** How many more slow consumers there are than three minutes ago. */
function growth(history: readonly (Figures | null)[], now: number | null): number {
  const first = history.find((one) => one !== null);
  return (now ?? 0) - (first?.slow_consumers ?? 0);
}
