/** The settings of content, the audit log, notifications, metrics and the log. */
import type { Setting } from './setting.ts'
import { SECOND, DAY, MIB } from './units.ts'

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

export const SERVICE_SETTINGS = [
  {
    name: 'content.compression',
    kind: 'text',
    pattern: /^(auto|off)$/,
    fallback: 'auto',
    meaning: 'compression of new chunks. auto: zstd if a chunk becomes at least a tenth smaller; off: none',
  },
  {
    name: 'content.sealing_threads',
    kind: 'integer',
    fallback: '0',
    min: 0,
    max: 64,
    meaning: 'the number of threads that hash, compress and seal large chunks; 0: half of the cores, 1 to 4',
  },
  {
    name: 'audit.keep',
    kind: 'duration',
    fallback: '90d',
    min: 60 * SECOND,
    max: 3650 * DAY,
    meaning: 'how long audit rows are kept; older rows are removed, and the chain continues from an anchor',
  },
  {
    name: 'audit.max_bytes',
    kind: 'bytes',
    fallback: '0B',
    min: 0,
    max: 1024 * 1024 * 1024 * MIB,
    meaning:
      'the most bytes of the segments of the audit log, one copy of each; beyond it the oldest are removed before audit.keep. 0: no bound',
  },
  {
    name: 'audit.strict',
    kind: 'boolean',
    fallback: 'false',
    meaning:
      'whether a request is answered only after its audit row is durable; otherwise the row is durable within 100 ms',
  },
  {
    name: 'audit.spool_bytes',
    kind: 'bytes',
    fallback: '256MiB',
    min: 16 * MIB,
    max: 1024 * 1024 * MIB,
    meaning:
      'the most bytes of audit rows on the disk of this node that the cluster has not taken over; beyond it the node refuses requests',
  },
  {
    name: 'audit.unproved_spool_bytes',
    kind: 'bytes',
    fallback: '16MiB',
    min: MIB,
    max: 1024 * MIB,
    meaning:
      'the same for rows of callers who have proved nothing: beyond it their requests are only counted, and no request is refused',
  },
  {
    name: 'audit.export.to',
    kind: 'text',
    pattern: /^(none|syslog|otlp|webhook)$/,
    fallback: 'none',
    meaning:
      'where the audit log is delivered outside of the cluster. syslog: RFC 5424 over TLS; otlp: logs over HTTP, JSON; webhook: signed as notifications are. The same on all nodes',
  },
  {
    name: 'audit.export.url',
    kind: 'text',
    pattern: /^[a-z]+:\/\/[^\s@]+$/,
    fallback: null,
    optional: true,
    meaning:
      'the receiver: tls://host:6514 for syslog, otherwise an https:// URL (http:// only to this machine), for otlp with its path such as /v1/logs',
  },
  {
    name: 'audit.export.ca',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning:
      'the authorities (PEM) that the certificate of the receiver is checked against; otherwise those of Node.js',
  },
  {
    name: 'audit.export.cert',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning: 'the certificate (PEM) by which the receiver knows this cluster',
  },
  {
    name: 'audit.export.key',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning: 'the private key of that certificate (PEM)',
  },
  {
    name: 'audit.export.secret_file',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning:
      'a file: for webhook the secret of the signatures (whsec_ and base64), for otlp the value of the Authorization header',
  },
  {
    name: 'notifications.allow_http',
    kind: 'boolean',
    fallback: 'false',
    meaning: 'whether a webhook may have an http:// URL: others can then read and change its messages',
  },
  {
    name: 'notifications.allow_ports',
    kind: 'ports',
    fallback: '443,8443',
    meaning:
      'the ports that webhooks may name, each 1 to 65535, separated by commas; an origin of allow_origins has its own port, and allow_http adds 80',
  },
  {
    name: 'notifications.allow_origins',
    kind: 'origins',
    fallback: '',
    meaning:
      'the origins, such as https://hooks.internal:8443, that webhooks may reach at any address; all others must have public addresses. An entry is an origin, which opens it to all tenants, or {origin, tenants, paths}: to these tenants only, and only at these paths and below',
  },
  {
    name: 'metrics.public',
    kind: 'boolean',
    fallback: 'false',
    meaning: 'whether /metrics is served without an admin token',
  },
  {
    name: 'metrics.per_tenant',
    kind: 'boolean',
    fallback: 'false',
    meaning:
      'whether /metrics names single tenants with their requests, bytes, refusals and what they store; at most 200',
  },
  {
    name: 'metrics.per_bucket',
    kind: 'boolean',
    fallback: 'false',
    meaning:
      'whether /metrics names single buckets, with their tenants, objects and bytes; at most 500 of the first 200 tenants',
  },
  { name: 'logging.level', kind: 'level', fallback: 'info', meaning: `one of ${LOG_LEVELS.join(', ')}` },
  {
    name: 'logging.requests',
    kind: 'text',
    fallback: 'problems',
    pattern: /^(problems|all)$/,
    meaning:
      'which requests have a line in the log. problems: those that are refused, fail, break off or take a second or longer; all: each. The audit log has a row of every one',
  },
  {
    name: 'logging.format',
    kind: 'text',
    fallback: 'auto',
    pattern: /^(auto|json|pretty)$/,
    meaning:
      'how lines of the log are written. json: one object each; pretty: for people; auto: pretty on a terminal',
  },
  {
    name: 'tracing.url',
    kind: 'text',
    pattern: /^https?:\/\/[^\s@]+$/,
    fallback: null,
    optional: true,
    meaning:
      'where traces of requests are sent: OTLP over HTTP, JSON, such as http://127.0.0.1:4318/v1/traces (http:// only to this machine). Without it nothing is traced',
  },
  {
    name: 'tracing.sample',
    kind: 'percent',
    fallback: '10%',
    min: 0,
    max: 100,
    meaning: 'the share of requests that are traced; where the client sends traceparent, its flag decides',
  },
] as const satisfies readonly Setting[]
