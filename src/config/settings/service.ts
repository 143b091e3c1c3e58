/** The settings of content, the audit log, notifications, metrics and the log. */
import { SERVER_URL, type Setting } from './setting.ts'
import { SECOND, DAY, MIB } from './units.ts'

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

export const SERVICE_SETTINGS = [
  {
    name: 'content.compression',
    kind: 'text',
    pattern: /^(auto|off)$/,
    fallback: 'auto',
    meaning: 'compression of new chunks. auto: zstd if a chunk becomes at least a tenth smaller; off: none',
    advice: 'Set content.compression to auto or off, for example content.compression: auto.',
  },
  {
    name: 'content.sealing_threads',
    kind: 'integer',
    fallback: '0',
    min: 0,
    max: 64,
    meaning: 'the number of threads that hash, compress and seal large chunks; 0: half of the cores, 1 to 4',
    advice:
      'Set content.sealing_threads to a number of threads, or to 0 for half of the cores, for example content.sealing_threads: 2.',
  },
  {
    name: 'audit.keep',
    kind: 'duration',
    fallback: '90d',
    min: 60 * SECOND,
    max: 3650 * DAY,
    meaning: 'how long audit rows are kept; older rows are removed, and the chain continues from an anchor',
    advice: 'Set audit.keep to a duration, for example audit.keep: 90d.',
  },
  {
    name: 'audit.max_bytes',
    kind: 'bytes',
    fallback: '0B',
    min: 0,
    max: 1024 * 1024 * 1024 * MIB,
    meaning:
      'the most bytes of the segments of the audit log, one copy of each; beyond it the oldest are removed before audit.keep. 0: no bound',
    advice: 'Set audit.max_bytes to a size, or to 0 for no bound, for example audit.max_bytes: 50GiB.',
  },
  {
    name: 'audit.strict',
    kind: 'boolean',
    fallback: 'false',
    meaning:
      'whether a request is answered only after its audit row is durable; otherwise the row is durable within 100 ms',
    advice:
      'Set audit.strict to true if an answer must wait for its audit row, or to false, for example audit.strict: true.',
  },
  {
    name: 'audit.spool_bytes',
    kind: 'bytes',
    fallback: '256MiB',
    min: 16 * MIB,
    max: 1024 * 1024 * MIB,
    meaning:
      'the most bytes of audit rows on the disk of this node that the cluster has not taken over; beyond it the node refuses requests',
    advice:
      'Set audit.spool_bytes to a size that the disk has room for, for example audit.spool_bytes: 256MiB.',
  },
  {
    name: 'audit.unproved_spool_bytes',
    kind: 'bytes',
    fallback: '16MiB',
    min: MIB,
    max: 1024 * MIB,
    meaning:
      'the same for rows of callers who have proved nothing: beyond it their requests are only counted, and no request is refused',
    advice:
      'Set audit.unproved_spool_bytes to a size that the disk has room for, for example audit.unproved_spool_bytes: 16MiB.',
  },
  {
    name: 'audit.export.to',
    kind: 'text',
    pattern: /^(none|syslog|otlp|webhook)$/,
    fallback: 'none',
    meaning:
      'where the audit log is delivered outside of the cluster. syslog: RFC 5424 over TLS; otlp: logs over HTTP, JSON; webhook: signed as notifications are. The same on all nodes',
    advice: 'Set audit.export.to to none, syslog, otlp or webhook, for example audit.export.to: syslog.',
  },
  {
    name: 'audit.export.url',
    kind: 'text',
    pattern: /^[a-z]+:\/\/[^\s@]+$/,
    isUrl: true,
    fallback: null,
    optional: true,
    meaning:
      'the receiver: tls://host:6514 for syslog, otherwise an https:// URL (http:// only to this machine), for otlp with its path such as /v1/logs',
    advice:
      'Set audit.export.url to the receiver that fits audit.export.to, for example audit.export.url: tls://logs.example.org:6514.',
  },
  {
    name: 'audit.export.ca',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning:
      'the authorities (PEM) that the certificate of the receiver is checked against; otherwise those of Node.js',
    advice:
      'Set audit.export.ca to a file with the authorities of the receiver, for example audit.export.ca: certs/logs-ca.pem.',
  },
  {
    name: 'audit.export.cert',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning: 'the certificate (PEM) by which the receiver knows this cluster',
    advice:
      'Set audit.export.cert to a file with the certificate of this cluster, together with audit.export.key, for example audit.export.cert: certs/export.pem.',
  },
  {
    name: 'audit.export.key',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning: 'the private key of that certificate (PEM)',
    advice:
      'Set audit.export.key to the file of the private key of audit.export.cert, for example audit.export.key: certs/export.key.',
  },
  {
    name: 'audit.export.secret_file',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning:
      'a file: for webhook the secret of the signatures (whsec_ and base64), for otlp the value of the Authorization header',
    advice:
      'Set audit.export.secret_file to a file with the secret of the receiver, for example audit.export.secret_file: /etc/holdfast/export.secret.',
  },
  {
    name: 'notifications.allow_http',
    kind: 'boolean',
    fallback: 'false',
    meaning: 'whether a webhook may have an http:// URL: others can then read and change its messages',
    advice:
      'Set notifications.allow_http to true if webhooks may use plain HTTP, or to false, for example notifications.allow_http: false.',
  },
  {
    name: 'notifications.allow_ports',
    kind: 'ports',
    fallback: '443,8443',
    meaning:
      'the ports that webhooks may name, each 1 to 65535, separated by commas; an origin of allow_origins has its own port, and allow_http adds 80',
    advice:
      'List ports in notifications.allow_ports with commas between them, for example notifications.allow_ports: 443,8443.',
  },
  {
    name: 'notifications.allow_origins',
    kind: 'origins',
    fallback: '',
    meaning:
      'the origins, such as https://hooks.internal:8443, that webhooks may reach at any address; all others must have public addresses. An entry is an origin, which opens it to all tenants, or {origin, tenants, paths}: to these tenants only, and only at these paths and below',
    advice:
      'List scheme, host and port of inner receivers in notifications.allow_origins, for example notifications.allow_origins: [https://hooks.internal:8443].',
  },
  {
    name: 'metrics.public',
    kind: 'boolean',
    fallback: 'false',
    meaning: 'whether /metrics is served without an admin token',
    advice:
      'Set metrics.public to true to serve /metrics without a token, or to false, for example metrics.public: false.',
  },
  {
    name: 'metrics.per_tenant',
    kind: 'boolean',
    fallback: 'false',
    meaning:
      'whether /metrics names single tenants with their requests, bytes, refusals and what they store; at most 200',
    advice:
      'Set metrics.per_tenant to true for figures of each tenant, or to false, for example metrics.per_tenant: true.',
  },
  {
    name: 'metrics.per_bucket',
    kind: 'boolean',
    fallback: 'false',
    meaning:
      'whether /metrics names single buckets, with their tenants, objects and bytes; at most 500 of the first 200 tenants',
    advice:
      'Set metrics.per_bucket to true for figures of each bucket, or to false, for example metrics.per_bucket: true.',
  },
  {
    name: 'metrics.prometheus_url',
    kind: 'text',
    pattern: SERVER_URL,
    isUrl: true,
    fallback: null,
    optional: true,
    meaning:
      'the Prometheus that scrapes all nodes, such as http://prometheus.internal:9090: the console shows charts of days and weeks from it. A node sends it fixed queries only. Without it charts show the last hour, which every node keeps in memory',
    advice:
      'Set metrics.prometheus_url to the address of Prometheus without /api/v1, for example metrics.prometheus_url: http://prometheus.internal:9090.',
  },
  {
    name: 'metrics.prometheus_job',
    kind: 'text',
    pattern: /^[A-Za-z0-9_.:/-]{1,100}$/,
    fallback: 'holdfast',
    meaning: 'the job under which that Prometheus scrapes the nodes of this cluster, and no other nodes',
    advice:
      'Set metrics.prometheus_job to the job_name of the nodes in prometheus.yml, for example metrics.prometheus_job: holdfast.',
  },
  {
    name: 'logging.level',
    kind: 'level',
    fallback: 'info',
    meaning: `one of ${LOG_LEVELS.join(', ')}`,
    advice:
      'Set logging.level to fatal, error, warn, info, debug, trace or silent, for example logging.level: info.',
  },
  {
    name: 'logging.requests',
    kind: 'text',
    fallback: 'problems',
    pattern: /^(problems|all)$/,
    meaning:
      'which requests have a line in the log. problems: those that are refused, fail, break off or take a second or longer; all: each. The audit log has a row of every one',
    advice: 'Set logging.requests to problems or all, for example logging.requests: all.',
  },
  {
    name: 'logging.format',
    kind: 'text',
    fallback: 'auto',
    pattern: /^(auto|json|pretty)$/,
    meaning:
      'how lines of the log are written. json: one object each; pretty: for people; auto: pretty on a terminal',
    advice: 'Set logging.format to auto, json or pretty, for example logging.format: json.',
  },
  {
    name: 'tracing.url',
    kind: 'text',
    pattern: /^https?:\/\/[^\s@]+$/,
    isUrl: true,
    fallback: null,
    optional: true,
    meaning:
      'where traces of requests are sent: OTLP over HTTP, JSON, such as http://127.0.0.1:4318/v1/traces (http:// only to this machine). Without it nothing is traced',
    advice:
      'Set tracing.url to the OTLP address of a collector with its path, for example tracing.url: http://127.0.0.1:4318/v1/traces.',
  },
  {
    name: 'tracing.sample',
    kind: 'percent',
    fallback: '10%',
    min: 0,
    max: 100,
    meaning: 'the share of requests that are traced; where the client sends traceparent, its flag decides',
    advice: 'Set tracing.sample to a percentage with its sign, for example tracing.sample: 10%.',
  },
] as const satisfies readonly Setting[]
