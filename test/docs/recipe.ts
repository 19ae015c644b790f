import { readFileSync } from 'node:fs';

/** What a section of docs/recipes/recipes.md shows. */
export interface Recipe {
  /** The schema of its graph. */
  readonly graph: string;
  /** The settings of its connector, the first JSON block; empty if it has none. */
  readonly settings: Readonly<Record<string, string>>;
  /** Its statements; '' if it has none. */
  readonly sql: string;
}

/** @throws Error if the page has no section of this title with a graph */
export function recipeOfPage(title: string): Recipe {
  const sections = readFileSync('docs/recipes/recipes.md', 'utf8').split(/^## /m);
  const section = sections.find((text) => text.startsWith(`${title}\n`));
  const blocks = (language: string) =>
    Array.from(section?.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms')) ?? [], ([, text]) => text!);
  const [graph] = blocks('graphql');
  if (graph === undefined) throw new Error(`docs/recipes/recipes.md has no section "${title}" with a graph`);
  const settings = JSON.parse(blocks('json')[0] ?? '{}') as Record<string, string>;
  return { graph, settings, sql: blocks('sql').join('\n') };
}
