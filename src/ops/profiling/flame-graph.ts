import { escapeMarkup } from '../../base/escape-markup.ts';
import type { Call, CallFrame } from './cpu-profile.ts';

/** The colour of a group of calls. */
export interface Hue {
  readonly name: string;
  readonly color: string;
}

const WIDTH = 1200;
const MARGIN = 12;
const ROW_HEIGHT = 16;
const HEAD_HEIGHT = 40;
const LEGEND_STEP = 18;
const LEGEND_COLUMN = 200;
/** Narrower calls are left out, in px. */
const MIN_WIDTH = 0.8;
const CHARACTER_WIDTH = 6.2;

/**
 * A flame graph as an SVG document. Each call stands on its caller. Its width is its share of the time; the widest comes first.
 * @param hueOf returns undefined for the caller's hue; the outermost call then gets the last hue
 */
export function flameGraph(
  title: string,
  root: Call,
  hues: readonly Hue[],
  hueOf: (frame: CallFrame) => Hue | undefined,
): string {
  const depth = depthOf(root, (WIDTH - 2 * MARGIN) / root.totalUs);
  const legendRows = Math.ceil(hues.length / Math.floor((WIDTH - 2 * MARGIN) / LEGEND_COLUMN));
  const top = HEAD_HEIGHT + legendRows * LEGEND_STEP + 8;
  const height = top + depth * ROW_HEIGHT + MARGIN;
  const boxes: string[] = [];
  const draw = (call: Call, x: number, level: number, callerHue: Hue): void => {
    const width = (call.totalUs / root.totalUs) * (WIDTH - 2 * MARGIN);
    // NaN if there is no time at all.
    if (!(width >= MIN_WIDTH)) return;
    const y = height - MARGIN - (level + 1) * ROW_HEIGHT;
    const hue = hueOf(call.frame) ?? callerHue;
    boxes.push(box(call, x, y, width, hue.color, call.totalUs / root.totalUs));
    let left = x;
    for (const callee of call.callees.toSorted((a, b) => b.totalUs - a.totalUs)) {
      draw(callee, left, level + 1, hue);
      left += (callee.totalUs / root.totalUs) * (WIDTH - 2 * MARGIN);
    }
  };
  draw(root, MARGIN, 0, hues.at(-1)!);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="ui-monospace, monospace" font-size="10.5" fill="#24292f">
<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>
<text x="${MARGIN}" y="24" font-family="system-ui, sans-serif" font-size="16" font-weight="600">${escapeMarkup(title)}</text>
${legend(hues)}
${boxes.join('\n')}
</svg>
`;
}

function depthOf(call: Call, pixelsPerUs: number): number {
  if (!(call.totalUs * pixelsPerUs >= MIN_WIDTH)) return 0;
  return 1 + Math.max(0, ...call.callees.map((callee) => depthOf(callee, pixelsPerUs)));
}

function box({ frame }: Call, x: number, y: number, width: number, color: string, share: number): string {
  const name = frame.functionName || '(anonymous)';
  const location = frame.url === '' ? '' : `, ${shortUrl(frame.url)}:${frame.lineNumber + 1}`;
  const letters = Math.floor((width - 4) / CHARACTER_WIDTH);
  const label = letters < 3 ? '' : name.length > letters ? `${name.slice(0, letters - 1)}…` : name;
  const text = label === '' ? '' : `<text x="${(x + 2).toFixed(1)}" y="${y + 11.5}">${escapeMarkup(label)}</text>`;
  return `<g><title>${escapeMarkup(`${name}${location}: ${(share * 100).toFixed(1)} %`)}</title><rect x="${x.toFixed(1)}" y="${y}" width="${Math.max(0.3, width - 0.4).toFixed(1)}" height="${ROW_HEIGHT - 1}" fill="${color}"/>${text}</g>`;
}

/** Relative to the project. */
function shortUrl(url: string): string {
  return url.replace(/^.*?\/(?=node_modules\/|dist\/)/, '');
}

function legend(hues: readonly Hue[]): string {
  const columns = Math.floor((WIDTH - 2 * MARGIN) / LEGEND_COLUMN);
  return hues
    .map(({ name, color }, i) => {
      const x = MARGIN + (i % columns) * LEGEND_COLUMN;
      const y = HEAD_HEIGHT + Math.floor(i / columns) * LEGEND_STEP;
      return `<rect x="${x}" y="${y}" width="12" height="12" fill="${color}"/><text x="${x + 18}" y="${y + 10}">${escapeMarkup(name)}</text>`;
    })
    .join('\n');
}
