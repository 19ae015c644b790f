import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { linesOfDiff } from './changed-lines.ts';

describe('lines of a diff', () => {
  it('are the lines of the new text, by file', () => {
    const diff = `diff --git a/src/a.ts b/src/a.ts
--- a/src/a.ts
+++ b/src/a.ts
@@ -3 +3,2 @@ function f() {
-  old();
+  first();
+  second();
@@ -9,2 +9,0 @@
-  gone();
-  gone();
+++ b/src/b.ts
@@ -1 +1 @@
-x
+y
`;
    const lines = [...linesOfDiff(diff)].map(([file, numbers]) => [file, [...numbers]]);
    assert.deepEqual(lines, [
      ['src/a.ts', [3, 4]],
      ['src/b.ts', [1]],
    ]);
  });
});
