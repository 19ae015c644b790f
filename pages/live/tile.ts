import { element } from '../element.ts';
import { Sparkline } from './sparkline.ts';
import type { Series } from './sparkline.ts';
import type { Figures } from './stats.ts';

export type Level = 'good' | 'warning' | 'bad';

/** What one tile shows. */
export interface TileOptions {
  readonly title: string;
  readonly value: (stats: Figures) => string;
  /** Below the value. */
  readonly detail: (stats: Figures) => string;
  /** Drawn over time. */
  readonly lines: readonly ((stats: Figures) => number | null)[];
  /** The figure at the top of the scale. */
  readonly format: (value: number | null) => string;
  /** The least top of the scale, so that noise is no mountain. */
  readonly ceiling: number;
  /** @param history the last three minutes, the latest one last */
  readonly level?: (stats: Figures, history: readonly (Figures | null)[]) => Level;
}

export class Tile {
  readonly root = element('section', 'tile');
  readonly #options: TileOptions;
  readonly #value = element('p', 'value', '–');
  readonly #detail = element('p', 'detail');
  readonly #top = element('p', 'top');
  readonly #sparkline: Sparkline;

  constructor(options: TileOptions) {
    this.#options = options;
    this.#sparkline = new Sparkline(options.lines.length);
    const chart = element('div', 'chart');
    chart.append(this.#sparkline.root, this.#top);
    this.root.append(element('h2', '', options.title), this.#value, chart, this.#detail);
  }

  draw(stats: Figures, history: readonly (Figures | null)[]): void {
    const { value, detail, lines, format, ceiling, level } = this.#options;
    this.#value.textContent = value(stats);
    this.#detail.textContent = detail(stats);
    this.root.dataset['level'] = level?.(stats, history) ?? 'good';
    const series = lines.map((line): Series => history.map((one) => (one ? line(one) : null)));
    this.#top.textContent = format(this.#sparkline.draw(series, ceiling));
  }
}
