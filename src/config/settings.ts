/**
 * Every setting of a node: its name in the file, what it means, its unit, bounds and default. Each number appears here once.
 *
 * Owns: the table that the loader checks against and that the reference page is made from.
 * Rule: names given by the contract keep their spelling (security.native_api_token_ttl, security.max_presign_ttl).
 */
export type SettingKind =
  | 'text'
  | 'path'
  | 'address'
  | 'duration'
  | 'bytes'
  | 'percent'
  | 'integer'
  | 'boolean'
  | 'members'
  | 'level'
  | 'origins'

export interface Setting {
  readonly name: string
  readonly kind: SettingKind
  readonly meaning: string
  /** As it would be written in the file; null: must be given. */
  readonly fallback: string | null
  /** For numbers, in ms, bytes, percent or units. */
  readonly min?: number
  readonly max?: number
  /** For text. */
  readonly pattern?: RegExp
  readonly optional?: true
}

const SECOND = 1000
const DAY = 86_400 * SECOND
const MIB = 1024 * 1024
const NODE_ID = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

export const SETTINGS = [
  {
    name: 'node.id',
    kind: 'text',
    pattern: NODE_ID,
    fallback: null,
    meaning: 'the name of this machine, unique in the cluster',
  },
  {
    name: 'node.data_dir',
    kind: 'path',
    fallback: null,
    meaning: 'folder for everything this node keeps; relative to this file',
  },
  {
    name: 'node.zone',
    kind: 'text',
    pattern: NODE_ID,
    fallback: 'default',
    meaning: 'what fails together: a rack, a room, a site',
  },
  {
    name: 'cluster.id',
    kind: 'text',
    pattern: /^[A-Za-z0-9-]{8,64}$/,
    fallback: null,
    meaning: 'the same on every node, unlike that of any other cluster',
  },
  {
    name: 'cluster.members',
    kind: 'members',
    fallback: null,
    meaning: 'the first members: a list of {id, peer, zone, weight}',
  },
  {
    name: 'cluster.heartbeat',
    kind: 'duration',
    fallback: '100ms',
    min: 10,
    max: 5 * SECOND,
    meaning: 'how often a leader shows that it lives',
  },
  {
    name: 'cluster.election_timeout',
    kind: 'duration',
    fallback: '1s',
    min: 100,
    max: 60 * SECOND,
    meaning: 'silence of the leader after which others stand for election; at least ten heartbeats',
  },
  {
    name: 'cluster.log_keep_entries',
    kind: 'integer',
    fallback: '10000',
    min: 16,
    max: 1_000_000,
    meaning: 'applied log entries kept for nodes that lag',
  },
  {
    name: 'cluster.log_keep_bytes',
    kind: 'bytes',
    fallback: '16MiB',
    min: 65_536,
    max: 1024 * MIB,
    meaning: 'and at most so many bytes of them',
  },
  {
    name: 'cluster.collect_after',
    kind: 'duration',
    fallback: '30s',
    min: 0,
    max: 7 * 24 * 3600 * SECOND,
    meaning:
      'how long a download of an object that was deleted meanwhile can go on; its space is free after that',
  },
  {
    name: 'cluster.clock_skew_max',
    kind: 'duration',
    fallback: '5s',
    min: 2 * SECOND,
    max: DAY,
    meaning: 'how far the clock of this node and that of another may be apart before the doctor says so',
  },
  {
    name: 'disk.stop_placing',
    kind: 'percent',
    fallback: '85%',
    min: 1,
    max: 100,
    meaning: 'from so full a disk on, new copies go to other nodes where these are as good',
  },
  {
    name: 'disk.stop_writing',
    kind: 'percent',
    fallback: '92%',
    min: 1,
    max: 100,
    meaning: 'from here on this node takes no new copies; it goes on reading, removing and compacting',
  },
  {
    name: 'disk.reserve',
    kind: 'percent',
    fallback: '95%',
    min: 1,
    max: 100,
    meaning: 'from here on the node says that it lives on its last space; at least disk.stop_writing',
  },
  {
    name: 'repair.scrub_every',
    kind: 'duration',
    fallback: '7d',
    min: 60 * SECOND,
    max: 365 * DAY,
    meaning: "no copy on this node's disk stays unread for longer",
  },
  { name: 'listeners.data', kind: 'address', fallback: '127.0.0.1:9000', meaning: 'the data API' },
  {
    name: 'listeners.admin',
    kind: 'address',
    fallback: '127.0.0.1:9001',
    meaning: 'the admin API and /metrics',
  },
  {
    name: 'listeners.peer',
    kind: 'address',
    fallback: '127.0.0.1:9002',
    meaning: 'the other nodes; beyond loopback it needs peer_tls',
  },
  {
    name: 'listeners.public_url',
    kind: 'text',
    pattern: /^https?:\/\/[^\s/?#@]+(\/[^\s?#]*[^\s/?#])?$/,
    fallback: null,
    optional: true,
    meaning:
      'where clients reach the data API, without a slash at the end: signed URLs begin so; without it, with listeners.data',
  },
  {
    name: 'peer_tls.ca',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning: 'certificate of the cluster CA (PEM); all three files are read anew when they change',
  },
  {
    name: 'peer_tls.cert',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning: 'certificate of this node, as `holdfast certs issue` makes it (PEM)',
  },
  {
    name: 'peer_tls.key',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning: 'private key of this node (PEM)',
  },
  {
    name: 'data_tls.cert',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning:
      'certificate of listeners.data and whatever is between it and its root (PEM); without it plain HTTP',
  },
  {
    name: 'data_tls.key',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning: 'its private key (PEM); both files are read anew when they change',
  },
  {
    name: 'admin_tls.cert',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning: 'the same of listeners.admin; it may be the same file',
  },
  {
    name: 'admin_tls.key',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning: 'its private key (PEM); both files are read anew when they change',
  },
  {
    name: 'security.master_key_file',
    kind: 'path',
    fallback: null,
    meaning: 'the master key; the same on every node',
  },
  {
    name: 'security.native_api_token_ttl',
    kind: 'duration',
    fallback: '1h',
    min: 60 * SECOND,
    max: DAY,
    meaning: 'life of a bearer token',
  },
  {
    name: 'security.max_presign_ttl',
    kind: 'duration',
    fallback: '7d',
    min: SECOND,
    max: 7 * DAY,
    meaning: 'longest life of a signed URL',
  },
  {
    name: 'content.compression',
    kind: 'text',
    pattern: /^(auto|off)$/,
    fallback: 'auto',
    meaning: 'auto: chunks that zstd makes at least a tenth smaller are stored so; off: new ones never are',
  },
  {
    name: 'content.sealing_threads',
    kind: 'integer',
    fallback: '0',
    min: 0,
    max: 64,
    meaning: 'threads that hash, compress and seal large chunks; 0: half of the cores, 1 to 4',
  },
  {
    name: 'audit.keep',
    kind: 'duration',
    fallback: '90d',
    min: 60 * SECOND,
    max: 3650 * DAY,
    meaning: 'how long the audit log is kept; older rows go, and the chain goes on from an anchor',
  },
  {
    name: 'audit.strict',
    kind: 'boolean',
    fallback: 'false',
    meaning:
      'answer a request only when its row of the audit log is durable; otherwise it is so within 100 ms',
  },
  {
    name: 'audit.spool_bytes',
    kind: 'bytes',
    fallback: '256MiB',
    min: 16 * MIB,
    max: 1024 * 1024 * MIB,
    meaning:
      'audit rows on the disk of this node that the cluster has not taken over; with more it refuses requests',
  },
  {
    name: 'notifications.allow_http',
    kind: 'boolean',
    fallback: 'false',
    meaning:
      'whether a webhook may have a http:// URL: what is sent there can be read and changed on its way',
  },
  {
    name: 'notifications.allow_origins',
    kind: 'origins',
    fallback: '',
    meaning:
      'origins such as https://hooks.internal:8443 that webhooks may reach wherever they are; all others must be public addresses',
  },
  {
    name: 'metrics.public',
    kind: 'boolean',
    fallback: 'false',
    meaning: 'serve /metrics without an admin token',
  },
  { name: 'logging.level', kind: 'level', fallback: 'info', meaning: `one of ${LOG_LEVELS.join(', ')}` },
  {
    name: 'limits.inline_bytes',
    kind: 'bytes',
    fallback: '2KiB',
    min: 0,
    max: 65_536,
    meaning: 'bodies up to this size travel inside the log',
  },
  {
    name: 'limits.object_put_bytes',
    kind: 'bytes',
    fallback: '5GiB',
    min: 1,
    max: 5 * 1024 * MIB,
    meaning: 'largest body of a single PUT, of an object or a part',
  },
  {
    name: 'limits.multipart_expires_after',
    kind: 'duration',
    fallback: '7d',
    min: 60 * SECOND,
    max: 365 * DAY,
    meaning: 'age at which a multipart upload that nobody completed is given up; set when it is begun',
  },
  {
    name: 'limits.buckets_per_tenant',
    kind: 'integer',
    fallback: '1000',
    min: 1,
    max: 100_000,
    meaning: 'buckets of one tenant',
  },
  {
    name: 'limits.token_mint_per_minute',
    kind: 'integer',
    fallback: '30',
    min: 1,
    max: 100_000,
    meaning: 'tokens minted for one access key',
  },
  {
    name: 'limits.token_mint_burst',
    kind: 'integer',
    fallback: '10',
    min: 1,
    max: 100_000,
    meaning: 'and so many of them at once',
  },
  {
    name: 'limits.admin_requests_per_minute',
    kind: 'integer',
    fallback: '600',
    min: 1,
    max: 1_000_000,
    meaning: 'requests of one admin token',
  },
  {
    name: 'limits.admin_requests_burst',
    kind: 'integer',
    fallback: '100',
    min: 1,
    max: 1_000_000,
    meaning: 'and so many of them at once',
  },
  {
    name: 'limits.chunk_buffers',
    kind: 'integer',
    fallback: '5',
    min: 2,
    max: 1024,
    meaning: 'chunks of 4 MiB that all uploads of this node hold in memory together',
  },
  {
    name: 'limits.connections',
    kind: 'integer',
    fallback: '10000',
    min: 16,
    max: 1_000_000,
    meaning:
      'connections that listeners.data and listeners.admin each keep open; further ones are closed at once',
  },
  {
    name: 'limits.body_bytes_per_minute',
    kind: 'bytes',
    fallback: '16KiB',
    min: 0,
    max: 1024 * MIB,
    meaning: 'a body that brings less in a minute of waiting for it is given up with 408; 0: none is',
  },
] as const satisfies readonly Setting[]

export type SettingName = (typeof SETTINGS)[number]['name']
