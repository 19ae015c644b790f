import { element } from '../element.ts';
import { duration } from './format.ts';
import { OperationsTable } from './operations-table.ts';
import type { Stats } from './stats.ts';
import { StatsStream } from './stats-stream.ts';
import { Tile } from './tile.ts';
import { TILES } from './tiles.ts';
import { TokenForm } from './token-form.ts';

/** Seconds that the lines show. */
const HISTORY = 180;
/** Age in seconds from which figures are called old. */
const OLD_SECONDS = 3;

const pod = element('h1', '', 'crier');
const facts = element('p', 'facts');
const connection = element('p', 'pill', 'connecting…');
const status = element('p', 'pill');
const problems = element('ul', 'problems');
const header = element('header');
const board = element('main');
const tiles = TILES.map((options) => new Tile(options));
const table = new OperationsTable();
const grid = element('div', 'grid');
const form = new TokenForm((token) => {
  form.hide();
  reason = '';
  show('connecting', 'connecting…');
  stream.open(token);
});

connection.setAttribute('role', 'status');
status.hidden = true;
header.append(pod, facts, connection, status);
grid.append(...tiles.map(({ root }) => root));
board.append(problems, grid, table.root, element('p', 'note', 'The lines are the last three minutes at most.'));
document.body.append(header, form.root, board);

/** The last three minutes, one entry a second; null: no figures came. */
let history: (Stats | null)[] = [];
let latest: Stats | undefined;
let receivedAt = 0;
let reason = '';
let state: 'connecting' | 'live' | 'waiting' | 'reconnecting' | 'refused' = 'connecting';

const stream = new StatsStream(new URL('live/graphql', location.href), {
  onStats: (stats) => {
    reason = '';
    receivedAt = performance.now();
    // Behind a Service the next stream may be another pod's.
    if (latest && latest.pod !== stats.pod) history = [];
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
  document.title = `${stats.pod} · live`;
  pod.textContent = stats.pod;
  facts.textContent = `${stats.graph} · ${stats.role} · ${stats.version} · up ${duration(stats.uptime_seconds)}`;
  status.dataset['state'] = stats.status;
  status.textContent = stats.status;
  problems.replaceChildren(...stats.problems.map((problem) => element('li', '', problem)));
  for (const tile of tiles) tile.draw(stats, history);
  table.draw(stats.top_operations);
}

stream.open('');
