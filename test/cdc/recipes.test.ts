import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { installPrograms, missingPrograms } from '../../stack/programs.ts';
import { RECIPE_CASES } from './recipe-cases.ts';
import type { RecipeName } from './recipe-cases.ts';
import { recordFlink, recordRecipe } from './recipe-recording.ts';
import type { RecipeRecording } from './recipe-recording.ts';

const RECORDINGS = join('test', 'kafka', 'fixtures', 'recipes');

/** What differs in each run: where the connector read a change, and when. */
const VOLATILE = new Set(['source', 'ts_ms', 'ts_us', 'ts_ns', 'transaction']);

const lasting = (name: string, member: unknown) => (VOLATILE.has(name) ? undefined : member);

function lastingRecords({ records }: RecipeRecording): unknown[] {
  return records.map((record) => {
    const { value, ...rest } = record as { value: string | null };
    return { ...rest, value: value === null ? null : (JSON.parse(value, lasting) as unknown) };
  });
}

describe('the connector of a recipe writes what its recording has', { timeout: 10 * 60_000 }, () => {
  before(async () => installPrograms(await missingPrograms(['psql', 'mariadbd', 'javac'])));

  for (const name of [...(Object.keys(RECIPE_CASES) as RecipeName[]), 'flink'] as const) {
    it(name, async () => {
      const recording = JSON.parse(readFileSync(join(RECORDINGS, `${name}.json`), 'utf8')) as RecipeRecording;
      const written = await (name === 'flink' ? recordFlink() : recordRecipe(name));
      assert.deepEqual(lastingRecords(written), lastingRecords(recording));
    });
  }
});
