import { escapeMarkup } from '../../../src/base/escape-markup.ts';
import type { PhaseSpan, StoryResult } from '../result.ts';
import { whole } from './tables.ts';

const BACKLOG_HEIGHT = 240;

/** The heap over time and, below it on the same axis, the backlog in Kafka of an open-loop flood. */
export function storyPicture({ title, sockets, phases, samples, openLoop }: StoryResult): string {
  const line = (label: string, color: string, of: 'heapUsedBytes' | 'residentBytes' | 'externalBytes') => ({
    label,
    color,
    points: samples.map((sample) => [sample.atMs, sample[of] / 1e6] as const),
  });
  const heap = timeChart({
    title: `Node.js max heap used: ${title}, ${whole(sockets)} sockets`,
    unit: 'MB',
    phases,
    series: [
      line('max heap used', '#0969da', 'heapUsedBytes'),
      line('resident (RSS)', '#8c959f', 'residentBytes'),
      line('external', '#bf8700', 'externalBytes'),
    ],
  });
  if (!openLoop) return heap;
  const points = samples.flatMap(({ atMs, backlog }) => (backlog ? [[atMs, backlog.kafkaRecords] as const] : []));
  const series = [{ label: 'lag', color: '#cf222e', points }];
  const backlog = timeChart({ title: 'Records that wait in Kafka', unit: '', phases, height: BACKLOG_HEIGHT, series });
  return stackedCharts([heap, backlog]);
}

interface Series {
  readonly label: string;
  readonly color: string;
  /** Pairs of time in ms and value. */
  readonly points: readonly (readonly [number, number])[];
}

interface TimeChart {
  readonly title: string;
  readonly unit: string;
  readonly phases: readonly PhaseSpan[];
  readonly series: readonly Series[];
  readonly height?: number;
}

const WIDTH = 960;
const LEFT = 76;
const RIGHT = 20;
const TOP = 64;
const BOTTOM = 34;
const PHASE_COLORS = { bare: '#f6f8fa', idle: '#ddf4ff', pace: '#fff8c5', flood: '#fff1e5', drain: '#f6f8fa' } as const;

/** An SVG line chart over time with the phases as background. The value axis starts at zero. */
function timeChart({ title, unit, phases, series, height = 360 }: TimeChart): string {
  const endMs = Math.max(1, phases.at(-1)?.toMs ?? 0);
  const highest = niceCeiling(Math.max(...series.flatMap(({ points }) => points.map(([, value]) => value)), 0));
  const x = (ms: number) => LEFT + (Math.min(ms, endMs) / endMs) * (WIDTH - LEFT - RIGHT);
  const y = (value: number) => height - BOTTOM - (value / highest) * (height - TOP - BOTTOM);
  const parts = [
    ...phases.map((phase) => drawPhase(phase, x, height)),
    ...ticks(highest, 4).map((value) => drawLevel(value, y(value), unit)),
    ...ticks(endMs, 8).map((ms) => drawTime(ms, x(ms), height)),
    ...series.map((line) => drawSeries(line, x, y)),
    ...series.map(({ label, color }, i) => drawKey(label, color, i)),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="12" fill="#24292f">
<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>
<text x="${LEFT}" y="24" font-size="16" font-weight="600">${escapeMarkup(title)}</text>
${parts.join('\n')}
</svg>
`;
}

/** Stacks charts of `timeChart` vertically in one document. */
function stackedCharts(charts: readonly string[]): string {
  let height = 0;
  const placed = charts.map((chart) => {
    const top = height;
    height += Number(/ height="(\d+)"/.exec(chart)![1]);
    return chart.replace('<svg ', `<svg y="${top}" `);
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}">\n${placed.join('')}</svg>\n`;
}

function drawPhase({ name, fromMs, toMs }: PhaseSpan, x: (ms: number) => number, height: number): string {
  const left = x(fromMs);
  const width = x(toMs) - left;
  const label = width < 36 ? '' : `<text x="${left + 6}" y="${TOP + 14}" fill="#57606a">${name}</text>`;
  const box = `<rect x="${fixed(left)}" y="${TOP}" width="${fixed(width)}" height="${height - TOP - BOTTOM}" fill="${PHASE_COLORS[name]}"/>`;
  return `${box}<path d="M${fixed(left)} ${TOP}V${height - BOTTOM}" stroke="#afb8c1" stroke-dasharray="3 3"/>${label}`;
}

function drawLevel(value: number, top: number, unit: string): string {
  const text = `${value.toLocaleString('en')} ${unit}`.trim();
  return `<path d="M${LEFT} ${fixed(top)}H${WIDTH - RIGHT}" stroke="#d0d7de"/><text x="${LEFT - 8}" y="${fixed(top + 4)}" text-anchor="end">${text}</text>`;
}

function drawTime(ms: number, left: number, height: number): string {
  return `<text x="${fixed(left)}" y="${height - BOTTOM + 18}" text-anchor="middle">${Math.round(ms / 1000)} s</text>`;
}

function drawSeries({ points, color }: Series, x: (ms: number) => number, y: (value: number) => number): string {
  const path = points.map(([ms, value], i) => `${i === 0 ? 'M' : 'L'}${fixed(x(ms))} ${fixed(y(value))}`).join('');
  return `<path d="${path}" fill="none" stroke="${color}" stroke-width="2" stroke-linejoin="round"/>`;
}

function drawKey(label: string, color: string, index: number): string {
  const left = LEFT + index * 220;
  return `<rect x="${left}" y="38" width="14" height="4" fill="${color}"/><text x="${left + 20}" y="45">${escapeMarkup(label)}</text>`;
}

/** About `count` steps of 1, 2 or 5 times a power of ten, from zero. */
function ticks(highest: number, count: number): number[] {
  const rough = highest / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough)!;
  return Array.from({ length: Math.floor(highest / step + 1e-9) + 1 }, (_, i) => i * step);
}

function niceCeiling(value: number): number {
  if (value <= 0) return 1;
  const step = ticks(value, 4)[1] ?? value;
  return Math.ceil(value / step) * step;
}

function fixed(value: number): string {
  return value.toFixed(1);
}
