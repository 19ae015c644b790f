/** Of a response that goes on: nobody between server and client may keep it, change it or hold it back. */
export const STREAM_HEADERS = {
  'cache-control': 'no-store, no-transform',
  // For nginx, which else collects a response until a buffer is full.
  'x-accel-buffering': 'no',
};
