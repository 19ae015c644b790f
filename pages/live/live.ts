import { element } from '../element.ts';
import { duration } from './format.ts';
import { OperationsTable } from './operations-table.ts';
import type { Figures, Stats } from './stats.ts';
import { StatsStream } from './stats-stream.ts';
import { Tile } from './tile.ts';
import { TILES } from './tiles.ts';
import { TokenForm } from './token-form.ts';

/** Seconds that the lines show. */
const HISTORY = 180;
/** Age in seconds from which figures are called old. */
const OLD_SECONDS = 3;

const graph = element('h1', '', 'crier');
const facts = element('p', 'facts');
const connection = element('p', 'pill', 'connecting…');
const status = element('p', 'pill');
const problems = element('ul', 'problems');
const header = element('header');
const main = element('main');
const board = element('div', 'board');
const tiles = TILES.map((options) => new Tile(options));
const table = new OperationsTable((operation) => stream.lookUp(operation));
const grid = element('div', 'grid');
const form = new TokenForm((token) => {
  form.hide();
  reason = '';
  show('connecting', 'connecting…');
  stream.open(token);
});

connection.setAttribute('role', 'status');
status.hidden = true;
header.append(graph, facts, connection, status);
grid.append(...tiles.map(({ root }) => root));
board.append(
  problems,
  grid,
  table.root,
  element('p', 'note', 'Lines: the last three minutes, from 0 to the figure at their right.'),
);
main.append(form.root, board);
document.body.append(header, main);

/** The last three minutes, one entry a second; null: no figures came. */
let history: (Figures | null)[] = [];
let latest: Stats | undefined;
let receivedAt = 0;
let reason = '';
let state: 'connecting' | 'live' | 'waiting' | 'reconnecting' | 'refused' = 'connecting';

const stream = new StatsStream(new URL('live/graphql', location.href), {
  // Behind a Service the next stream may be another pod's.
  onHistory: (former) => {
    history = former.flatMap((stats, i) => Array<Figures>(secondsSince(former[i - 1], stats)).fill(stats));
    history.splice(0, history.length - HISTORY);
  },
  onStats: (stats) => {
    reason = '';
    receivedAt = performance.now();
    latest = stats;
    push(stats);
    show('live', 'live');
    draw(stats);
  },
  onBroken: (why) => {
    reason = why;
    showAge();
  },
  onRefused: (why) => {
    show('refused', 'refused');
    form.ask(why);
  },
  onForbidden: (why) => {
    show('refused', 'not served here');
    form.forbid(why);
  },
});

/** Figures that do not come leave a hole in the lines. */
setInterval(() => {
  if (!latest || ageSeconds() < OLD_SECONDS) return;
  push(null);
  if (state !== 'refused' && state !== 'connecting') showAge();
}, 1000);

/** Seconds that figures stand for. */
function secondsSince(before: Figures | undefined, { at }: Figures): number {
  return before ? Math.max(1, Math.round((Date.parse(at) - Date.parse(before.at)) / 1000)) : 1;
}

function push(stats: Stats | null): void {
  history.push(stats);
  if (history.length > HISTORY) history.shift();
}

function ageSeconds(): number {
  return Math.round((performance.now() - receivedAt) / 1000);
}

function showAge(): void {
  const age = latest ? `, figures ${duration(ageSeconds())} old` : '';
  if (reason) show('reconnecting', `reconnecting: ${reason}${age}`);
  else show('waiting', `the pod is silent${age}`);
}

function show(next: typeof state, text: string): void {
  state = next;
  connection.dataset['state'] = state;
  connection.textContent = text;
  document.body.dataset['state'] = state;
  status.hidden = state !== 'live';
}

function draw(stats: Stats): void {
  document.title = `${stats.graph} · ${stats.pod} · live`;
  graph.textContent = stats.graph;
  facts.textContent = `${stats.pod} · ${stats.role} · ${stats.version} · up ${duration(stats.uptime_seconds)}`;
  status.dataset['state'] = stats.status;
  status.textContent = stats.status;
  problems.replaceChildren(...stats.problems.map((problem) => element('li', '', problem)));
  for (const tile of tiles) tile.draw(stats, history);
  table.draw(stats.top_operations);
}

stream.open('');
