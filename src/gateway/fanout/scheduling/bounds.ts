/** Time in ms for which one turn of the event loop may serve events; then sockets, timers and health checks have their turn. */
export const SLICE_MS = 10;

/** Bytes of events that may wait for their slice. Beyond it all of them are served at once, and Redis waits. */
export const MAX_WAITING_BYTES = 8 * 1024 * 1024;

/** Bytes of events that may wait for channels at their limit of executions in flight. */
export const MAX_HELD_JOB_BYTES = 8 * 1024 * 1024;

/** Events of one batch: bounds the time for which one member is served. */
export const MAX_BATCH_EVENTS = 32;

/** Results between two reads of the clock, so that these cost nothing beside the work. */
export const RESULTS_BETWEEN_CHECKS = 16;

/**
 * A batch of at least this many events is written while it is served if many bytes wait. The messages of smaller batches leave a socket in
 * one write: a write per batch took a third more CPU with 16 events outstanding.
 */
export const MANY_EVENTS = 16;
