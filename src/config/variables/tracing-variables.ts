import { bool, httpUrl, list, optionalFraction, text, tunable } from '../variable.ts';

export const tracingVariables = {
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl('OTLP collector of spans, without `/v1/traces`; not set: none.'),
  OTEL_TRACES_EXPORTER: list(
    '',
    'otlp, console or none',
    'Where spans go; not set: to the OTLP collector, if one is set.',
  ),
  OTEL_SDK_DISABLED: bool('false', 'Whether nothing is traced, whatever else is set.'),
  OTEL_TRACES_SAMPLER: text(
    '',
    'a sampler of OpenTelemetry',
    '`always_on`, `always_off`, `traceidratio`, or one of them after `parentbased_`; not set: `parentbased_traceidratio`, 0.001.',
  ),
  OTEL_TRACES_SAMPLER_ARG: tunable(
    optionalFraction(
      'Share of records without a trace context that are traced; not set: that of `OTEL_TRACES_SAMPLER`.',
    ),
  ),
};
