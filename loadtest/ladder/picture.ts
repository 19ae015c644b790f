import { escapeMarkup } from '../../src/base/escape-markup.ts';
import type { LadderRow } from './figures.ts';

interface Bar {
  readonly value: number;
  readonly text: string;
  readonly colour: string;
}

interface Panel {
  readonly title: string;
  /** Bars of each row, from the top. */
  readonly rows: readonly (readonly Bar[])[];
  /** If set, the scale is logarithmic, and this is the value at its left edge. */
  readonly least?: number;
}

const OURS = '#0969da';
const LIGHT = '#54aeff';
const TALK = '#8c959f';
const LABEL_WIDTH = 270;
const PANEL_WIDTH = 430;
const BARS_WIDTH = 300;
const ROW_HEIGHT = 44;
const BAR_HEIGHT = 15;
const TOP = 92;
const MARGIN = 20;

/** An SVG document: messages sent beside the talk's, and heap used in the idle phase and in the flood. */
export function ladderPicture(rows: readonly LadderRow[], note: string): string {
  const panels: readonly Panel[] = [
    {
      title: 'Messages sent, × baseline (logarithmic)',
      rows: rows.map(sentBars),
      least: 0.5,
    },
    { title: 'Heap used, MB: idle (dark) and flood (light)', rows: rows.map(heapBars) },
  ];
  const width = 2 * MARGIN + LABEL_WIDTH + panels.length * PANEL_WIDTH;
  const height = TOP + rows.length * ROW_HEIGHT + 40;
  const labels = rows.map(
    ({ title }, i) =>
      `<text x="${MARGIN + LABEL_WIDTH - 10}" y="${TOP + i * ROW_HEIGHT + 21}" text-anchor="end">${escapeMarkup(title)}</text>`,
  );
  const drawn = panels.map((panel, i) => drawPanel(panel, MARGIN + LABEL_WIDTH + i * PANEL_WIDTH));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13" fill="#24292f">
<rect width="${width}" height="${height}" fill="#ffffff"/>
<text x="${MARGIN}" y="32" font-size="18" font-weight="600">The ladder, from the talk's baseline to crier</text>
${[...labels, ...drawn].join('\n')}
<text x="${MARGIN}" y="${height - 14}" font-size="12" fill="#57606a">${escapeMarkup(`Blue: measured. Grey: the talk's figures (heap: idle). ${note}`)}</text>
</svg>
`;
}

function sentBars({ measured, talkRatios }: LadderRow): Bar[] {
  const bar = (value: number | undefined, colour: string) =>
    value === undefined ? [] : [{ value, text: `× ${value.toFixed(value < 10 ? 2 : 0)}`, colour }];
  return [...bar(measured?.ratios?.sent, OURS), ...bar(talkRatios.sent, TALK)];
}

function heapBars({ measured, talk }: LadderRow): Bar[] {
  const bar = (value: number | undefined, colour: string) =>
    value === undefined ? [] : [{ value, text: value.toFixed(0), colour }];
  return [
    ...bar(measured?.idleMegabytes, OURS),
    ...bar(measured?.floodMegabytes, LIGHT),
    ...bar(talk?.idleMegabytes, TALK),
  ];
}

function drawPanel({ title, rows, least }: Panel, x: number): string {
  const scale = (value: number) => (least === undefined ? value : Math.log10(Math.max(value, least) / least));
  const largest = scale(Math.max(1, ...rows.flat().map(({ value }) => value)));
  const lines = rows.flatMap((bars, row) =>
    bars.map(({ value, text, colour }, i) => {
      const y = TOP + row * ROW_HEIGHT + i * (BAR_HEIGHT - 2);
      const length = Math.max(1, (scale(value) / largest) * BARS_WIDTH);
      const thickness = BAR_HEIGHT - 4;
      return `<rect x="${x}" y="${y}" width="${length.toFixed(1)}" height="${thickness}" rx="2" fill="${colour}"/>
<text x="${(x + length + 6).toFixed(1)}" y="${y + thickness - 1}" font-size="11">${escapeMarkup(text)}</text>`;
    }),
  );
  return `<text x="${x}" y="${TOP - 20}" font-weight="600">${escapeMarkup(title)}</text>\n${lines.join('\n')}`;
}
