import type { AvalanchePlan } from './avalanche.ts';
import type { ClientKind } from './fleet-client.ts';
import type { JitterPlan } from './jitter.ts';
import type { Delays } from './reconnect-delays.ts';

export interface PlanOptions {
  readonly clients: number;
  readonly kinds: readonly ClientKind[];
  readonly delays: readonly Delays[];
}

/** A run for each combination. */
export function jitterPlans({ clients, kinds, delays }: PlanOptions): JitterPlan[] {
  return delays.flatMap((one) => kinds.map((kind) => ({ clients, kind, delays: one })));
}

/** A run for each combination. @param options `spreads`: in ms */
export function avalanchePlans(options: PlanOptions & { readonly spreads: readonly number[] }): AvalanchePlan[] {
  return options.spreads.flatMap((spreadMs) => jitterPlans(options).map((plan) => ({ ...plan, spreadMs })));
}
