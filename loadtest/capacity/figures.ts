/** Figures of one case, by the heading of their column. */
export type Figures = Readonly<Record<string, number>>;
