import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RECIPE_CASES } from './recipe-cases.ts';
import type { RecipeName } from './recipe-cases.ts';
import { recordFlink, recordRecipe } from './recipe-recording.ts';

/** `node dist/test/cdc/write-recipes.js [name] ...`: writes test/kafka/fixtures/recipes, the records that the connectors of docs/recipes write. */
const FOLDER = join('test', 'kafka', 'fixtures', 'recipes');

const names = process.argv.slice(2);
await mkdir(FOLDER, { recursive: true });
for (const name of names.length > 0 ? names : [...Object.keys(RECIPE_CASES), 'flink']) {
  const { versions, settings, records } = await (name === 'flink' ? recordFlink() : recordRecipe(name as RecipeName));
  const lines = [
    `"versions": ${JSON.stringify(versions)}`,
    `"settings": ${JSON.stringify(settings, null, 2)}`,
    `"records": [\n${records.map((record) => JSON.stringify(record)).join(',\n')}\n]`,
  ];
  await writeFile(join(FOLDER, `${name}.json`), `{\n${lines.join(',\n')}\n}\n`);
  process.stdout.write(`${name}: ${records.length} records\n`);
}
process.exit(0);
