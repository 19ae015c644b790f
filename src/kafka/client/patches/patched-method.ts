type Method = (...parameters: never[]) => unknown;

const PATCHED = Symbol.for('crier.kafkajs.patched');

/**
 * Replaces a method of a class of kafkajs. Idempotent, also of another copy of crier in the process.
 * @param patchOf makes the replacement from the method
 * @returns a function that removes the patch
 */
export function patchMethod<Name extends string, Prototype extends Record<Name, Method>>(
  prototype: Prototype,
  name: Name,
  patchOf: (original: Prototype[Name]) => Prototype[Name],
): () => void {
  const original = prototype[name];
  if (PATCHED in original) return () => undefined;
  prototype[name] = Object.assign(patchOf(original), { [PATCHED]: true });
  return () => {
    prototype[name] = original;
  };
}
