import type { RecordSampler } from '../../config/record-sampler.ts';
import type { Spans } from './spans.ts';

/** What both halves of crier trace with. */
export interface Tracing {
  readonly spans: Spans;
  /** Its `ratio` may be changed at any time. */
  readonly sampler: RecordSampler;
}
