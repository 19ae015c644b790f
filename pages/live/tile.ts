import { element } from '../element.ts';
import { Sparkline } from './sparkline.ts';
import type { Series } from './sparkline.ts';
import type { Stats } from './stats.ts';

export type Level = 'good' | 'warning' | 'bad';

/** What one tile shows. */
export interface TileOptions {
  readonly title: string;
  readonly value: (stats: Stats) => string;
  /** Below the value. */
  readonly detail: (stats: Stats) => string;
  /** Drawn over time. */
  readonly lines: readonly ((stats: Stats) => number | null)[];
  /** The least top of the scale, so that noise is no mountain. */
  readonly ceiling: number;
  /** @param history the last three minutes, the latest one last */
  readonly level?: (stats: Stats, history: readonly (Stats | null)[]) => Level;
}

export class Tile {
  readonly root = element('section', 'tile');
  readonly #options: TileOptions;
  readonly #value = element('p', 'value', '–');
  readonly #detail = element('p', 'detail');
  readonly #sparkline: Sparkline;

  constructor(options: TileOptions) {
    this.#options = options;
    this.#sparkline = new Sparkline(options.lines.length);
    this.root.append(element('h2', '', options.title), this.#value, this.#sparkline.root, this.#detail);
  }

  draw(stats: Stats, history: readonly (Stats | null)[]): void {
    const { value, detail, lines, ceiling, level } = this.#options;
    this.#value.textContent = value(stats);
    this.#detail.textContent = detail(stats);
    this.root.dataset['level'] = level?.(stats, history) ?? 'good';
    const series = lines.map((line): Series => history.map((one) => (one ? line(one) : null)));
    this.#sparkline.draw(series, ceiling);
  }
}
