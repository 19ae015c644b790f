/** Figures of one case, by the heading of their column. */
export type Figures = Readonly<Record<string, number>>;

/** Figures by the case's name, by the part's title. */
export type Parts = Readonly<Record<string, Readonly<Record<string, Figures>>>>;
