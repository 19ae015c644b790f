import { ErrorCode, NOOP_PROVIDER, StandardResolutionReasons } from '@openfeature/server-sdk';
import type { Client, EvaluationDetails, FlagValue } from '@openfeature/server-sdk';
import { refusal } from '../../config/refusal.ts';
import { variables } from '../../config/variables.ts';
import type { TunableName, TunableValues } from './tunable-values.ts';

/** What a provider says of one setting. */
export interface Evaluated {
  readonly value: TunableValues[TunableName];
  /** False: the provider says nothing, and the value is the environment's. */
  readonly isProvided: boolean;
}

/** Asks the provider for a setting, and checks the answer as the environment variable is checked. A string says why there is no value. */
export async function evaluateSetting(
  client: Client,
  name: TunableName,
  fallback: TunableValues[TunableName],
): Promise<Evaluated | string> {
  const { parse, expects } = variables[name];
  const details = await detailsOf(client, name, fallback);
  const { errorCode, errorMessage, value } = details;
  if (!isProvided(client, details)) return { value: fallback, isProvided: false };
  if (errorCode === ErrorCode.TYPE_MISMATCH) {
    return `${name}: expected ${expects}, as a JSON ${typeof fallback}; ${errorMessage || 'got another type'}`;
  }
  if (errorCode !== undefined) return `${name}: ${errorMessage || errorCode}`;
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const parsed = parse(text);
  if (!parsed) return refusal(name, text.slice(0, 200), expects);
  return { value: parsed.value as Evaluated['value'], isProvided: true };
}

function detailsOf(client: Client, name: string, fallback: FlagValue): Promise<EvaluationDetails<FlagValue>> {
  if (typeof fallback === 'number') return client.getNumberDetails(name, fallback);
  if (typeof fallback === 'boolean') return client.getBooleanDetails(name, fallback);
  return client.getStringDetails(name, fallback as string);
}

function isProvided(client: Client, { errorCode, reason }: EvaluationDetails<FlagValue>): boolean {
  if (errorCode === ErrorCode.FLAG_NOT_FOUND || reason === StandardResolutionReasons.DISABLED) return false;
  return client.metadata.providerMetadata.name !== NOOP_PROVIDER.metadata.name;
}
