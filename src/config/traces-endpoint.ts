import { isServiceUrl } from './addresses/service-url.ts';
import { nearValueFix } from './near-value.ts';
import { refusal } from './setting-refusal.ts';
import type { SettingsInput } from './settings-input.ts';
import { HTTP_URL } from './variable.ts';

/** OpenTelemetry's name of the collector of spans alone, whose URL has its path (https://opentelemetry.io/docs/specs/otel/protocol/exporter/). */
export const TRACES_ENDPOINT = 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT';

export function tracesEndpointProblems({ tracesEndpoint: url }: SettingsInput): string[] {
  return url === '' || isServiceUrl(url)
    ? []
    : [refusal(TRACES_ENDPOINT, url, HTTP_URL, false, nearValueFix(url, isServiceUrl))];
}
