const SVG = 'http://www.w3.org/2000/svg';
/** Seconds that the width stands for. */
const WIDTH = 180;
const HEIGHT = 36;

/** Values of the last three minutes, one a second; null: unknown. */
export type Series = readonly (number | null)[];

/** Lines over the last three minutes, from 0 to the largest value or a little more. */
export class Sparkline {
  readonly root = document.createElementNS(SVG, 'svg');
  readonly #paths: readonly SVGPathElement[];

  constructor(lines: number) {
    this.root.setAttribute('preserveAspectRatio', 'none');
    this.root.setAttribute('aria-hidden', 'true');
    this.#paths = Array.from({ length: lines }, (_, i) => {
      const path = document.createElementNS(SVG, 'path');
      path.setAttribute('class', `line line-${i}`);
      return path;
    });
    // The first line is the tile's value: it is drawn over the others.
    this.root.append(...this.#paths.toReversed());
  }

  /** Returns the top of the scale. @param ceiling the least one */
  draw(lines: readonly Series[], ceiling: number): number {
    const values = lines.flat().filter((value) => value !== null);
    const top = Math.max(ceiling, ...values);
    this.root.setAttribute('viewBox', `0 -2 ${WIDTH} ${HEIGHT + 4}`);
    this.#paths.forEach((path, i) => path.setAttribute('d', pathOf(lines[i] ?? [], top)));
    return top;
  }
}

/** The last value is at the right end. An unknown value interrupts the line. */
function pathOf(series: Series, top: number): string {
  let isDrawing = false;
  const commands = series.map((value, i) => {
    if (value === null) {
      isDrawing = false;
      return '';
    }
    const command = isDrawing ? 'L' : 'M';
    isDrawing = true;
    const x = WIDTH - series.length + 1 + i;
    // A single value is a dot.
    return `${command}${x} ${(HEIGHT * (1 - value / top)).toFixed(1)}${command === 'M' ? 'h0' : ''}`;
  });
  return commands.join('');
}
