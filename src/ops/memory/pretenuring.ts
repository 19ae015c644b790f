import { setFlagsFromString } from 'node:v8';

/**
 * Keeps V8 from allocating objects of events in the old space. V8 watches which places of the code allocate objects that survive. While
 * thousands of clients connect most objects do, also those of the events that arrive meanwhile; from then on optimized code allocates the
 * objects of such a place in the old space, where only a major collection frees them, and keep what they refer to alive until then:
 * payloads, and the buffers of whole fetch responses.
 *
 * The flag concerns decisions that V8 has not made yet, so call it before clients connect. It applies to the whole process.
 */
export function disablePretenuring(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
