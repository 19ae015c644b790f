export interface Bar {
  readonly label: string;
  readonly value: number;
  /** The label beside the bar. */
  readonly text: string;
  readonly isOurs: boolean;
}

export interface Panel {
  readonly title: string;
  readonly bars: readonly Bar[];
}

const LABEL_WIDTH = 190;
const BAR_WIDTH = 300;
const PANEL_WIDTH = LABEL_WIDTH + BAR_WIDTH + 110;
const BAR_HEIGHT = 18;
const BAR_STEP = 26;
const TITLE_HEIGHT = 34;
const MARGIN = 20;

/** An SVG bar chart with two panels per row. Each panel has its own scale from zero. */
export function barChart(title: string, note: string, panels: readonly Panel[]): string {
  const panelHeight = TITLE_HEIGHT + Math.max(...panels.map(({ bars }) => bars.length)) * BAR_STEP + 16;
  const width = MARGIN + 2 * PANEL_WIDTH;
  const height = 50 + Math.ceil(panels.length / 2) * panelHeight + 34;
  const drawn = panels.map((panel, i) =>
    drawPanel(panel, MARGIN + (i % 2) * PANEL_WIDTH, 50 + Math.floor(i / 2) * panelHeight),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13" fill="#24292f">
<rect width="${width}" height="${height}" fill="#ffffff"/>
<text x="${MARGIN}" y="32" font-size="18" font-weight="600">${escape(title)}</text>
${drawn.join('\n')}
<text x="${MARGIN}" y="${height - 16}" font-size="12" fill="#57606a">${escape(note)}</text>
</svg>
`;
}

function drawPanel({ title, bars }: Panel, x: number, y: number): string {
  const largest = Math.max(...bars.map(({ value }) => value));
  const lines = bars.map(({ label, value, text, isOurs }, i) => {
    const top = y + TITLE_HEIGHT + i * BAR_STEP;
    const length = Math.max(1, (value / largest) * BAR_WIDTH);
    const baseline = top + BAR_HEIGHT - 5;
    return `<text x="${x + LABEL_WIDTH - 8}" y="${baseline}" text-anchor="end">${escape(label)}</text>
<rect x="${x + LABEL_WIDTH}" y="${top}" width="${length.toFixed(1)}" height="${BAR_HEIGHT}" rx="2" fill="${isOurs ? '#0969da' : '#8c959f'}"/>
<text x="${(x + LABEL_WIDTH + length + 6).toFixed(1)}" y="${baseline}">${escape(text)}</text>`;
  });
  return `<text x="${x}" y="${y + 18}" font-weight="600">${escape(title)}</text>\n${lines.join('\n')}`;
}

function escape(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
