import { element } from '../element.ts';
import { count } from './format.ts';
import type { OperationDetails } from './stats.ts';

type PatternStats = OperationDetails['channels'][number];

const TITLES = ['Channels', 'Count', 'Live', 'Most in one'];

/** The document of an operation and its subscriptions, for a person. @param details null: the pod does not know it */
export function detailsOf(details: OperationDetails | null): readonly HTMLElement[] {
  if (!details) return [note('This pod no longer knows the operation.')];
  const { text, subscriptions, channels } = details;
  return [
    ...(text === null ? [note('It is not live, and its document has left the cache.')] : [codeBlock(text)]),
    ...(text?.includes('…') ? [note('… stands for a number or a text that a client wrote.')] : []),
    ...(channels.length > 0 ? [table(channels)] : [note(unchannelled(subscriptions))]),
  ];
}

function unchannelled(subscriptions: number): string {
  if (subscriptions === 0) return 'Nobody subscribes to it now.';
  return `${count(subscriptions)} live, with events of the graph's own code: they are in no channel.`;
}

/** Scrolled by keys, too. */
function codeBlock(text: string): HTMLElement {
  const block = element('pre');
  block.tabIndex = 0;
  block.setAttribute('role', 'group');
  block.ariaLabel = 'Document';
  block.append(element('code', '', text));
  return block;
}

function table(channels: readonly PatternStats[]): HTMLElement {
  const head = element('tr');
  for (const title of TITLES) {
    const cell = element('th', '', title);
    cell.scope = 'col';
    head.append(cell);
  }
  const created = element('table');
  created.append(head, ...channels.map(rowOf));
  return created;
}

function rowOf({ pattern, channels, subscriptions, largest }: PatternStats): HTMLElement {
  const row = element('tr');
  const name = element('th', '', pattern || 'of Redis');
  name.scope = 'row';
  row.append(name, ...[channels, subscriptions, largest].map((number) => element('td', '', count(number))));
  return row;
}

function note(text: string): HTMLElement {
  return element('p', 'empty', text);
}
