import { once } from 'node:events';
import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

/** The body of a page. Without keep-alive: a pod that was busy longer than its timeouts would close an idle connection. */
export async function textOf(url: string): Promise<string> {
  const [response] = (await once(get(url, { agent: false }), 'response')) as [IncomingMessage];
  return text(response);
}

/** Sum of all series of a counter in Prometheus' text format; with labels in `name`, the value of that series. */
export function sumOfCounter(metrics: string, name: string): number {
  let sum = 0;
  for (const line of metrics.split('\n')) {
    const match = /^(\w+)(\{.*\})? (\S+)/.exec(line);
    if (match && (match[1] === name || `${match[1]}${match[2]}` === name)) sum += Number(match[3]);
  }
  return sum;
}
