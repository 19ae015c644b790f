import assert from 'node:assert/strict';
import { it } from 'node:test';
import { figuresText } from '../../../loadtest/runner/result-files.ts';

it('figures have a line for each entry of each property, and six digits of a fraction', () => {
  const rows = [{ median: 1234.56789, min: 1234567 }, { median: 0.123456789 }];
  assert.equal(
    figuresText({ conditions: { node: 'v20', flags: undefined }, rows, faults: [], count: 2 }),
    `{
  "conditions": {
    "node": "v20"
  },
  "rows": [
    {"median":1234.57,"min":1234567},
    {"median":0.123457}
  ],
  "faults": [],
  "count": 2
}
`,
  );
});
