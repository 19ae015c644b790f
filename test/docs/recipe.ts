import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** What a section of docs/recipes shows. */
export interface Recipe {
  /** The schema of its graph. */
  readonly graph: string;
  /** The settings of its connector, the first JSON block; empty if it has none. */
  readonly settings: Readonly<Record<string, string>>;
  /** Its statements; '' if it has none. */
  readonly sql: string;
}

/** @throws Error if no page has a section of this title with a graph */
export function recipeOfPage(title: string): Recipe {
  const sections = readdirSync('docs/recipes').flatMap((name) =>
    readFileSync(join('docs/recipes', name), 'utf8').split(/^## /m),
  );
  const section = sections.find((text) => text.startsWith(`${title}\n`));
  const blocks = (language: string) =>
    Array.from(section?.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms')) ?? [], ([, text]) => text!);
  const [graph] = blocks('graphql');
  if (graph === undefined) throw new Error(`docs/recipes has no section "${title}" with a graph`);
  const settings = JSON.parse(blocks('json')[0] ?? '{}') as Record<string, string>;
  return { graph, settings, sql: blocks('sql').join('\n') };
}
