/** Figures of one case, by the heading of their column. */
export type Figures<Figure = number> = Readonly<Record<string, Figure>>;

/** Figures by the case's name, by the part's title. */
export type Parts<Figure = number> = Readonly<Record<string, Readonly<Record<string, Figures<Figure>>>>>;

/** A figure with two digits, or all digits before the point. */
export function printed(value: number): string {
  // 99.5 and more would be printed as 1.0e+2.
  return value >= 99.5 ? Math.round(value).toLocaleString('en') : value.toPrecision(2);
}
