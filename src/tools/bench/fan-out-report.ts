import { fold } from '../fold.ts';
import { paint } from '../../base/paint.ts';
import type { Percentiles } from './durations.ts';
import type { FanOut } from './fan-out.ts';

/** The figures of a fan-out, a line each, and what limits them. */
export function fanOutText(result: FanOut, out: NodeJS.WriteStream): string {
  const { sockets, connectSeconds, connectMs, seconds, events, deliveries, client, failures, notes } = result;
  const rows: [string, string][] = [
    [
      'sockets',
      `${number(sockets)}, subscribed at ${number(sockets / connectSeconds)} per second${milliseconds(connectMs)}`,
    ],
    ['events', `${number(events)} in ${seconds.toFixed(1)} s (${number(events / seconds)} per second)`],
    ['deliveries', `${number(deliveries)} (${number(result.deliveriesPerSecond)} per second)`],
  ];
  if (result.spreadMs)
    rows.push(['spread', `${milliseconds(result.spreadMs).slice(2)}; first to last socket of an event`]);
  if (result.latencyMs) rows.push(['latency', milliseconds(result.latencyMs).slice(2)]);
  rows.push([
    'this client',
    `${Math.round(client.cpu * 100)} % of a core, event loop late by ${client.loopLagP99Ms.toFixed(0)} ms (p99)`,
  ]);
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, text]) => fold(out, `  ${name.padEnd(width)}  ${text}`, width + 4));
  const problems = [
    result.missing ? `${number(result.missing)} deliveries are missing` : '',
    result.withErrors > 0 ? `${number(result.withErrors)} deliveries were results with errors` : '',
    result.incompleteTriggers > 0
      ? `after ${number(result.incompleteTriggers)} triggers not every socket received an event`
      : '',
    ...Object.entries(failures).map(([reason, count]) => `${number(count)} sockets: ${reason}`),
  ].filter((problem) => problem !== '');
  const remarks = [...notes];
  if (client.isBusy) remarks.unshift('This client was busy: the server may be faster than these figures say.');
  return [
    ...lines,
    ...problems.map((problem) => paint(out, 'red', fold(out, `  ${problem}`, 2))),
    ...remarks.map((remark) => paint(out, 'yellow', fold(out, `  ${remark}`, 2))),
    '',
  ].join('\n');
}

function number(value: number): string {
  return (value < 10 ? Number(value.toFixed(1)) : Math.round(value)).toLocaleString('en');
}

function milliseconds(percentiles: Percentiles | undefined): string {
  if (!percentiles) return '';
  const { p50Ms, p99Ms, maxMs } = percentiles;
  return `; ${p50Ms.toFixed(1)} ms (p50), ${p99Ms.toFixed(1)} ms (p99), ${maxMs.toFixed(1)} ms (longest)`;
}
