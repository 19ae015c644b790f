import { join } from 'node:path';

/** The graph folder without GRAPH. */
export const BUILT_IN_GRAPH = join(import.meta.dirname, '..', '..', 'examples', 'auction');
