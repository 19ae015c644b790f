/**
 * Longest wait of a batch for what its next record needs, in ms: kafkajs reads no other partition of the broker meanwhile. Then only its partition
 * waits. What was asked for goes on, and a later retry finds it.
 */
const PATIENCE_MS = 500;

/** Rejects with `pending` when the patience ends, and with what the promise rejects with before that. */
export async function withinPatience<Value>(loading: Promise<Value>, pending: Error): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const end = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(pending), PATIENCE_MS);
  });
  try {
    return await Promise.race([loading, end]);
  } finally {
    clearTimeout(timer);
  }
}
