import { generatedFunction } from '../generated-function.ts';
import type { ReadValue } from '../record-bytes.ts';

interface RecordField {
  /** In the payload; undefined: the field is read and dropped. */
  readonly name: string | undefined;
  readonly read: ReadValue;
}

/** Of `"":,` and the shortest value. */
const MIN_FIELD_WIDTH = 5;

/** Reads the fields in their order to an object. Generated: an object literal takes a third of the time of as many assignments. */
export function recordReader(fields: readonly RecordField[]): ReadValue {
  const named = fields.flatMap(({ name }, i) => (name === undefined ? [] : [{ name, i }]));
  const width = named.reduce((sum, { name }) => sum + name.length + MIN_FIELD_WIDTH, 2);
  const code = `
    const [${fields.map((_, i) => `read${i}`).join()}] = reads;
    return (bytes, levels) => {
      bytes.enter(levels, ${width});
      ${fields.map((_, i) => `const v${i} = read${i}(bytes, levels - 1);`).join('\n')}
      return { ${named.map(({ name, i }) => `${JSON.stringify(name)}: v${i}`).join()} };
    };`;
  return generatedFunction<ReadValue>({ reads: fields.map(({ read }) => read) }, code);
}
