import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

interface Found {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
}

/**
 * What axe finds wrong with a page as it is: the rule and the element that breaks it. @param except selectors of parts that are not crier's
 */
export async function violations(page: Page, except: readonly string[] = []): Promise<readonly string[]> {
  // Evaluated, and not a script of the page: its policy may allow none.
  await page.evaluate(await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8'));
  const { violations } = await page.evaluate<Found>(
    `axe.run({ exclude: ${JSON.stringify(except.map((selector) => [selector]))} })`,
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}
