import { mkdir, writeFile } from 'node:fs/promises';

export const RESULTS_FOLDER = 'loadtest/results';

/** Digits of a fraction. Whole numbers keep all of theirs. */
const DIGITS = 6;

/**
 * Writes `<name>.json` and a file for each other ending to the results, and returns their paths.
 * @param figures conditions, and medians or percentiles with their spread, not single measurements
 * @param texts by ending; a Markdown file gets a link to the figures
 */
export async function writeResult(
  name: string,
  figures: object,
  texts: Readonly<Partial<Record<'md' | 'svg' | 'html', string>>>,
): Promise<string[]> {
  const files = Object.entries({ json: figuresText(figures), ...texts }).map(([ending, text]) => ({
    path: `${RESULTS_FOLDER}/${name}.${ending}`,
    text: ending === 'md' ? `${text}\n[All figures](${name}.json)\n` : text,
  }));
  await mkdir(RESULTS_FOLDER, { recursive: true });
  for (const { path, text } of files) await writeFile(path, text);
  return files.map(({ path }) => path);
}

/** JSON with a line for each entry of each property. */
export function figuresText(figures: object): string {
  const rounded = JSON.parse(JSON.stringify(figures, roundFraction)) as Record<string, unknown>;
  const properties = Object.entries(rounded).map(
    ([name, value]) => `  ${JSON.stringify(name)}: ${propertyText(value)}`,
  );
  return `{\n${properties.join(',\n')}\n}\n`;
}

function propertyText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Array.isArray(value)
    ? value.map((entry) => JSON.stringify(entry))
    : Object.entries(value).map(([name, entry]) => `${JSON.stringify(name)}: ${JSON.stringify(entry)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return entries.length === 0 ? `${open}${close}` : `${open}\n    ${entries.join(',\n    ')}\n  ${close}`;
}

function roundFraction(_: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(DIGITS)) : value;
}
