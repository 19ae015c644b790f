/** One query of a panel: an expression of PromQL, and the legend of its series. */
type Query = readonly [expr: string, legend: string];

interface PanelOptions {
  /** Grafana's name of the unit: https://github.com/grafana/grafana/blob/main/packages/grafana-data/src/valueFormats/categories.ts */
  readonly unit?: string;
  readonly description?: string;
}

interface Panel extends PanelOptions {
  readonly title: string;
  readonly queries: readonly Query[];
}

/** The series of the selected jobs and pods. */
const POD = 'job=~"$job",instance=~"$instance"';
const COLUMNS = 24;
const PANEL = { width: 8, height: 7 };

const panel = (title: string, queries: readonly Query[], options: PanelOptions = {}): Panel => ({
  title,
  queries,
  ...options,
});

const sum = (metric: string, by?: string) => (by ? `sum by (${by}) (${metric}{${POD}})` : `sum(${metric}{${POD}})`);
const rate = (metric: string, by = '', matchers = '') =>
  `sum${by && ` by (${by})`} (rate(${metric}{${POD}${matchers && `,${matchers}`}}[$__rate_interval]))`;
const quantile = (q: number, metric: string, by = '') =>
  `histogram_quantile(${q}, sum by (le${by && `, ${by}`}) (rate(${metric}_bucket{${POD}}[$__rate_interval])))`;
const quantiles = (metric: string): Query[] =>
  [0.5, 0.95, 0.99].map((q) => [quantile(q, metric), `p${q * 100}`] as const);

const ROWS: readonly (readonly [title: string, panels: readonly Panel[]])[] = [
  [
    'Is it well?',
    [
      panel('Latency: Kafka timestamp to socket write', quantiles('crier_delivery_latency_seconds'), {
        unit: 's',
        description: 'The delay that clients see, without the network to them. Objective: 99 % within 1 s.',
      }),
      panel('Deliveries', [[rate('crier_deliveries_total'), 'messages']], { unit: 'ops' }),
      panel('Operations notified of gaps', [[rate('crier_gaps_total'), 'gaps']], {
        unit: 'ops',
        description: 'Events may be missing for these operations: their next event has `gap: true`.',
      }),
      panel('Connections', [
        [sum('crier_connections'), 'all'],
        [sum('crier_connections', 'instance'), '{{instance}}'],
      ]),
      panel('Lag', [[`max by (topic) (crier_kafka_lag_records{${POD}})`, '{{topic}}']], {
        description: 'Records of the partition with the most of them. A hole: the lag is unknown.',
      }),
      panel('Heap', [[`crier_heap_used_ratio{${POD}}`, '{{instance}}']], {
        unit: 'percentunit',
        description: 'Share of its limit that is in use after the last major garbage collection.',
      }),
    ],
  ],
  [
    'Delivery',
    [
      panel('p99 of each stage', [[quantile(0.99, 'crier_stage_seconds', 'stage'), '{{stage}}']], { unit: 's' }),
      panel('Frames per write', [
        [`${rate('crier_deliveries_total')} / ${rate('crier_socket_writes_total')}`, 'frames'],
      ]),
      panel(
        'Sharing ratio',
        [
          [
            `${rate('crier_results_shared_total')} / (${rate('crier_results_shared_total')} + ${rate('crier_executions_total')})`,
            'shared',
          ],
        ],
        { unit: 'percentunit', description: 'Results that needed no execution of their own.' },
      ),
      panel('Bytes to sockets', [[rate('crier_delivered_bytes_total'), 'bytes']], { unit: 'Bps' }),
      panel(
        'Compressed size of results',
        [[`${rate('crier_compression_output_bytes_total')} / ${rate('crier_compression_input_bytes_total')}`, 'part']],
        { unit: 'percentunit', description: 'Of those that COMPRESSION compresses.' },
      ),
      panel('Executions', [[rate('crier_executions_total'), 'executions']], { unit: 'ops' }),
      panel('Executions in flight and waiting', [
        [sum('crier_executions_in_flight'), 'in flight'],
        [sum('crier_executions_waiting'), 'waiting'],
      ]),
      panel('p99 of an execution', [[quantile(0.99, 'crier_execution_seconds', 'field'), '{{field}}']], { unit: 's' }),
      panel(
        'Bytes that wait for sockets',
        [
          [sum('crier_queue_bytes'), 'all'],
          [`max(crier_queue_bytes_max{${POD}})`, 'largest'],
        ],
        { unit: 'bytes' },
      ),
      panel('Gateways that limit workers', [
        [rate('crier_flow_limited_by_gateway_seconds_total', 'gateway'), '{{gateway}}'],
      ]),
    ],
  ],
  [
    'Kafka',
    [
      panel('Records', [[rate('crier_records_consumed_total', 'topic'), '{{topic}}']], { unit: 'ops' }),
      panel('Bytes', [[rate('crier_record_bytes_total', 'topic'), '{{topic}}']], { unit: 'Bps' }),
      panel('Age of the last progress', [[`max by (topic) (crier_kafka_progress_age_seconds{${POD}})`, '{{topic}}']], {
        unit: 's',
      }),
      panel('Poison records', [[rate('crier_poison_records_total', 'topic, reason'), '{{topic}} {{reason}}']], {
        unit: 'ops',
      }),
      panel('Tombstones', [[rate('crier_tombstones_total', 'topic, outcome'), '{{topic}} {{outcome}}']], {
        unit: 'ops',
      }),
      panel('Unmatched records', [[rate('crier_records_unmatched_total', 'field, reason'), '{{field}} {{reason}}']], {
        unit: 'ops',
      }),
      panel('Group', [
        [rate('crier_kafka_rebalances_total'), 'rebalances'],
        [rate('crier_kafka_commit_failures_total'), 'failed commits'],
        [rate('crier_consumer_rebuilds_total', 'reason'), 'rebuilt: {{reason}}'],
        [`max(crier_kafka_topics_missing{${POD}})`, 'missing topics'],
        [`min(crier_kafka_connected{${POD}})`, 'connected'],
        [`sum(crier_gateway_without_workers{${POD}})`, 'gateways without workers'],
      ]),
      panel('Partitions that are not read', [
        [`sum(crier_paused_partitions{${POD}})`, 'wait for Redis'],
        [`sum(crier_skipped_partitions{${POD}})`, 'some channels wait for a shard of the Redis Cluster'],
        [`sum(crier_schema_waiting_partitions{${POD}})`, 'wait for the schema registry'],
        [`sum(crier_dead_letter_waiting_partitions{${POD}})`, 'wait for the dead-letter topic'],
        [`sum(crier_stopped_partitions{${POD}})`, 'stopped: undecodable'],
      ]),
      panel(
        'Records that mutations publish',
        [[rate('crier_published_records_total', 'topic, outcome'), '{{topic}} {{outcome}}']],
        {
          unit: 'ops',
          description: '`unconfirmed`: sent, but Kafka did not answer in time; the record may be written.',
        },
      ),
      panel('States that are filled', [[`sum by (topic) (crier_state_fill_records{${POD}})`, '{{topic}}']], {
        description: 'Records that are still to be read. Until then subscriptions have `stateComplete: false`.',
      }),
      panel(
        'Records without their key and headers',
        [[rate('crier_record_parts_omitted_total', 'topic'), '{{topic}}']],
        {
          unit: 'ops',
          description: 'Together they exceed 3,000 bytes. Resolvers that read them fail.',
        },
      ),
    ],
  ],
  [
    'Redis',
    [
      panel('Links', [[`min by (server, link) (crier_redis_up{${POD}})`, '{{server}} {{link}}']]),
      panel('p99 of the round trip', [[quantile(0.99, 'crier_redis_round_trip_seconds', 'server'), '{{server}}']], {
        unit: 's',
        description: 'From a publish to its arrival at a subscriber of the same pod.',
      }),
      panel('Failures', [
        [rate('crier_publish_failures_total', 'reason'), 'publish: {{reason}}'],
        [rate('crier_redis_reconnects_total', 'server, link'), 'reconnect: {{server}} {{link}}'],
        [rate('crier_bus_gaps_total'), 'lost subscriptions'],
      ]),
      panel(
        'Dropped messages',
        [
          [rate('crier_unrecognised_messages_total'), 'not JSON, or too long'],
          [rate('crier_stale_messages_total'), 'received before'],
        ],
        { unit: 'ops', description: 'Other programs may publish on channels of `@redis` fields.' },
      ),
    ],
  ],
  [
    'Clients',
    [
      panel('Opened and closed', [
        [rate('crier_connections_opened_total'), 'opened'],
        [rate('crier_connections_closed_total', 'code'), 'closed: {{code}}'],
      ]),
      panel('Refused', [[rate('crier_refusals_total', 'reason'), '{{reason}}']]),
      panel('HTTP requests', [
        [rate('crier_requests_total'), 'requests/s'],
        [sum('crier_requests_in_flight'), 'in flight'],
      ]),
      panel('Subscriptions', [[sum('crier_subscriptions', 'field'), '{{field}}']]),
      panel('Resumes', [[rate('crier_resumes_total', 'outcome'), '{{outcome}}']]),
      panel('Slow consumers', [[rate('crier_slow_consumers_total'), 'closed']]),
      panel('Drains', [
        [`max by (instance) (crier_draining{${POD}})`, '{{instance}}'],
        [rate('crier_drain_connections_closed_total', 'instance'), '{{instance}} closed/s'],
      ]),
    ],
  ],
  [
    'Identity',
    [
      panel('Not authenticated', [[rate('crier_authentication_failures_total', 'reason'), '{{reason}}']], {
        unit: 'ops',
        description: 'Connections, HTTP requests and refreshes. `keys_unavailable`: the token may be valid.',
      }),
      panel(
        'Tokens',
        [
          [rate('crier_tokens_refreshed_total'), 'refreshed'],
          [rate('crier_tokens_expired_total'), 'expired, connection closed'],
        ],
        { unit: 'ops' },
      ),
      panel('Key sets', [[rate('crier_token_key_fetches_total', 'outcome'), '{{outcome}}']], {
        unit: 'ops',
        description: 'Fetches of JWT_JWKS_URL.',
      }),
      panel('Revocations', [
        [`max(crier_revocations{${POD}})`, 'in force'],
        [rate('crier_connections_revoked_total'), 'connections closed/s'],
        [rate('crier_revocations_refused_total'), 'not kept: too many'],
        [`max by (instance) (crier_revocations_behind{${POD}})`, '{{instance}} may not know all'],
      ]),
      panel('Trusted documents', [
        [`max(crier_trusted_documents{${POD}})`, 'in the manifest'],
        [`max(crier_trusted_documents_unusable{${POD}})`, 'that the graph cannot run'],
        [`sum(increase(crier_trusted_documents_rejected_total{${POD}}[$__rate_interval]))`, 'manifests rejected'],
      ]),
      panel('Requests for other documents', [[rate('crier_untrusted_documents_total'), 'requests']], {
        unit: 'ops',
        description: 'Refused, or run with TRUSTED_DOCUMENTS_MODE=allowed. Still: the mode may become `required`.',
      }),
    ],
  ],
  [
    'Graph and backends',
    [
      panel('Documents', [
        [rate('crier_documents_total', 'outcome'), '{{outcome}}'],
        [rate('crier_documents_refused_total'), 'refused'],
        [rate('crier_compilations_total', 'outcome'), 'compiled: {{outcome}}'],
      ]),
      panel('Document cache', [[sum('crier_document_cache_bytes'), 'bytes']], { unit: 'bytes' }),
      panel('Masked errors', [[rate('crier_internal_errors_total'), 'errors']]),
      panel('Backend requests', [
        [rate('crier_backend_requests_total', 'backend, outcome'), '{{backend}} {{outcome}}'],
        [rate('crier_backend_retries_total', 'backend, outcome'), '{{backend}} retry {{outcome}}'],
      ]),
      panel('p99 of a backend', [[quantile(0.99, 'crier_backend_request_seconds', 'backend'), '{{backend}}']], {
        unit: 's',
      }),
      panel('Backends under pressure', [
        [sum('crier_backend_requests_in_flight', 'backend'), '{{backend}} in flight'],
        [sum('crier_backend_requests_waiting', 'backend'), '{{backend}} waiting'],
        [`max by (backend) (crier_backend_breaker_open{${POD}})`, '{{backend}} breaker open'],
      ]),
      panel('p99 of backend requests per execution', [
        [quantile(0.99, 'crier_execution_backend_requests', 'field'), '{{field}}'],
      ]),
    ],
  ],
  [
    'Process',
    [
      panel('Heap by space', [[sum('nodejs_heap_space_size_used_bytes', 'space'), '{{space}}']], { unit: 'bytes' }),
      panel('Resident memory', [[`process_resident_memory_bytes{${POD}}`, '{{instance}}']], { unit: 'bytes' }),
      panel('Memory guard', [
        [`max by (instance) (crier_memory_guard_active{${POD}})`, '{{instance}}'],
        [rate('crier_memory_guard_connections_closed_total', 'instance'), '{{instance}} closed/s'],
      ]),
      panel('Garbage collection', [[rate('nodejs_gc_duration_seconds_sum', 'kind'), '{{kind}}']], {
        unit: 'percentunit',
        description: 'Share of the time that was spent collecting.',
      }),
      panel('CPU', [[rate('process_cpu_seconds_total', 'instance'), '{{instance}}']], { unit: 'percentunit' }),
      panel('Event loop lag, p99', [[`nodejs_eventloop_lag_p99_seconds{${POD}}`, '{{instance}}']], { unit: 's' }),
      panel('Event loop utilization', [[`crier_event_loop_utilization_ratio{${POD}}`, '{{instance}}']], {
        unit: 'percentunit',
      }),
      panel(
        'Processes',
        [
          [`1 - crier_process_up{${POD}}`, '{{instance}} {{process}} is away'],
          [`increase(crier_process_ends_total{${POD}}[$__rate_interval])`, '{{instance}} {{process}} ended'],
        ],
        { description: 'Only of pods with PROCESSES above 1.' },
      ),
      panel('Lost log lines and rejections', [
        [rate('crier_log_lines_dropped_total'), 'log lines'],
        [rate('crier_unhandled_rejections_total'), 'unhandled rejections'],
      ]),
      panel('Versions', [[`sum by (version, role) (crier_build_info{${POD}})`, '{{version}} {{role}}']]),
    ],
  ],
];

const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };

function variable(name: string, query: string) {
  return {
    name,
    type: 'query',
    datasource: DATASOURCE,
    query,
    refresh: 2,
    includeAll: true,
    multi: true,
    allValue: '.*',
    current: { text: 'All', value: '$__all' },
  };
}

function panelsOf(): object[] {
  const panels: object[] = [];
  let y = 0;
  let id = 0;
  for (const [title, members] of ROWS) {
    panels.push({ id: ++id, type: 'row', title, gridPos: { x: 0, y: y++, w: COLUMNS, h: 1 }, collapsed: false });
    members.forEach(({ title, queries, unit = 'short', description }, index) => {
      const x = (index * PANEL.width) % COLUMNS;
      if (x === 0 && index > 0) y += PANEL.height;
      panels.push({
        id: ++id,
        type: 'timeseries',
        title,
        description,
        datasource: DATASOURCE,
        gridPos: { x, y, w: PANEL.width, h: PANEL.height },
        fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
        options: { tooltip: { mode: 'multi', sort: 'desc' }, legend: { displayMode: 'list', placement: 'bottom' } },
        targets: queries.map(([expr, legendFormat], at) => ({
          refId: String.fromCharCode(65 + at),
          datasource: DATASOURCE,
          expr,
          legendFormat,
        })),
      });
    });
    y += PANEL.height;
  }
  return panels;
}

/** The text of `deploy/monitoring/dashboard.json`, a dashboard of Grafana. */
export function dashboard(): string {
  const model = {
    uid: 'crier',
    title: 'crier',
    tags: ['crier'],
    schemaVersion: 39,
    refresh: '10s',
    time: { from: 'now-1h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', type: 'datasource', query: 'prometheus' },
        variable('job', 'label_values(crier_build_info, job)'),
        variable('instance', 'label_values(crier_build_info{job=~"$job"}, instance)'),
      ],
    },
    panels: panelsOf(),
  };
  return `${JSON.stringify(model, undefined, 2)}\n`;
}
