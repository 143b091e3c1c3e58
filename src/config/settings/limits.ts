/** The limits that a node sets to its callers. */
import type { Setting } from './setting.ts'
import { SECOND, DAY, MIB } from './units.ts'

export const LIMIT_SETTINGS = [
  {
    name: 'limits.inline_bytes',
    kind: 'bytes',
    fallback: '8KiB',
    min: 0,
    max: 65_536,
    meaning:
      'the size up to which bodies are stored inside the log, on every node; equal ones are not stored once, as chunks are',
    advice: 'Set limits.inline_bytes to a size, for example limits.inline_bytes: 8KiB.',
  },
  {
    name: 'limits.object_put_bytes',
    kind: 'bytes',
    fallback: '5GiB',
    min: 1,
    max: 5 * 1024 * MIB,
    meaning: 'the largest body of a single PUT of an object or a part',
    advice: 'Set limits.object_put_bytes to a size, for example limits.object_put_bytes: 5GiB.',
  },
  {
    name: 'limits.multipart_expires_after',
    kind: 'duration',
    fallback: '7d',
    min: 60 * SECOND,
    max: 365 * DAY,
    meaning: 'the age at which an unfinished multipart upload is given up; fixed when the upload starts',
    advice:
      'Set limits.multipart_expires_after to a duration, for example limits.multipart_expires_after: 7d.',
  },
  {
    name: 'limits.buckets_per_tenant',
    kind: 'integer',
    fallback: '1000',
    min: 1,
    max: 100_000,
    meaning: 'the most buckets of one tenant',
    advice:
      'Set limits.buckets_per_tenant to a number of buckets, for example limits.buckets_per_tenant: 1000.',
  },
  {
    name: 'limits.notification_configs_per_tenant',
    kind: 'integer',
    fallback: '100',
    min: 1,
    max: 100_000,
    meaning:
      'the most notification configs of one tenant, over all its buckets; a bucket has at most 100 in any case',
    advice:
      'Set limits.notification_configs_per_tenant to a number, for example limits.notification_configs_per_tenant: 100.',
  },
  {
    name: 'limits.notification_configs_per_origin',
    kind: 'integer',
    fallback: '100',
    min: 1,
    max: 100_000,
    meaning: 'of these, the most whose URLs have the same origin: so many requests follow one write at most',
    advice:
      'Set limits.notification_configs_per_origin to a number, for example limits.notification_configs_per_origin: 100.',
  },
  {
    name: 'limits.token_mint_per_minute',
    kind: 'integer',
    fallback: '30',
    min: 1,
    max: 100_000,
    meaning: 'the most tokens that one access key can request per minute',
    advice:
      'Set limits.token_mint_per_minute to a number of tokens, for example limits.token_mint_per_minute: 30.',
  },
  {
    name: 'limits.token_mint_burst',
    kind: 'integer',
    fallback: '10',
    min: 1,
    max: 100_000,
    meaning: 'the most of these tokens at once',
    advice: 'Set limits.token_mint_burst to a number of tokens, for example limits.token_mint_burst: 10.',
  },
  {
    name: 'limits.admin_requests_per_minute',
    kind: 'integer',
    fallback: '600',
    min: 1,
    max: 1_000_000,
    meaning: 'the most requests of one admin token per minute',
    advice:
      'Set limits.admin_requests_per_minute to a number of requests, for example limits.admin_requests_per_minute: 600.',
  },
  {
    name: 'limits.admin_requests_burst',
    kind: 'integer',
    fallback: '100',
    min: 1,
    max: 1_000_000,
    meaning: 'the most of these requests at once',
    advice:
      'Set limits.admin_requests_burst to a number of requests, for example limits.admin_requests_burst: 100.',
  },
  {
    name: 'limits.chunk_buffers',
    kind: 'integer',
    fallback: '5',
    min: 2,
    max: 1024,
    meaning: 'the number of chunks of 4 MiB that this node seals and stores at the same time',
    advice:
      'Set limits.chunk_buffers to a number of chunks of 4 MiB that the memory has room for, for example limits.chunk_buffers: 5.',
  },
  {
    name: 'limits.upload_memory',
    kind: 'bytes',
    fallback: '128MiB',
    min: 16 * MIB,
    max: 1024 * 1024 * MIB,
    meaning:
      'the memory in which the bytes of all uploads of this node collect until a chunk is whole; it is shared out among tenants, keys and addresses',
    advice:
      'Set limits.upload_memory to a size that the memory has room for, for example limits.upload_memory: 128MiB.',
  },
  {
    name: 'limits.memory',
    kind: 'bytes',
    fallback: '0B',
    min: 0,
    max: 1024 * 1024 * MIB,
    meaning:
      'the memory that the heap of this node and the buffers outside of it may take together. From 90% of it on, uploads and listings of the busiest tenants get 503 slow_down, then all of them, then every request of the data plane; health checks, metrics and other nodes are served. 0: 60% of the memory of the machine or the container; otherwise at least 64MiB',
    advice:
      'Set limits.memory to a size of at least 64MiB, or to 0 for 60% of the memory, for example limits.memory: 2GiB.',
  },
  {
    name: 'limits.contended_bytes_per_second',
    kind: 'bytes',
    fallback: '64KiB',
    min: 0,
    max: 1024 * MIB,
    meaning:
      'while uploads wait for limits.upload_memory, a body that comes more slowly than this may be ended with 503 slow_down, the slowest first; 0: none',
    advice:
      'Set limits.contended_bytes_per_second to a size, or to 0 for none, for example limits.contended_bytes_per_second: 64KiB.',
  },
  {
    name: 'limits.connections',
    kind: 'integer',
    fallback: '10000',
    min: 16,
    max: 1_000_000,
    meaning:
      'the most connections that listeners.data and listeners.admin each keep open; further ones are closed immediately',
    advice: 'Set limits.connections to a number of connections, for example limits.connections: 10000.',
  },
  {
    name: 'limits.unproved_requests_per_minute',
    kind: 'integer',
    fallback: '600',
    min: 1,
    max: 1_000_000,
    meaning:
      'the most requests per minute that one address, of IPv6 one /64, may make at this node without proving who it is, refused ones included; 429 beyond. Probes and callers with a good token or secret do not count',
    advice:
      'Set limits.unproved_requests_per_minute to a number of requests, for example limits.unproved_requests_per_minute: 600.',
  },
  {
    name: 'limits.unproved_burst',
    kind: 'integer',
    fallback: '200',
    min: 1,
    max: 1_000_000,
    meaning: 'the most of these requests at once',
    advice: 'Set limits.unproved_burst to a number of requests, for example limits.unproved_burst: 200.',
  },
  {
    name: 'limits.unproved_body_bytes',
    kind: 'bytes',
    fallback: '1MiB',
    min: 65_536,
    max: 1024 * MIB,
    meaning:
      'the most that all bodies of callers who have not proved themselves yet hold in memory together, one address at most an eighth; 503 slow_down beyond. The fields of a browser form count with up to 20 KiB',
    advice: 'Set limits.unproved_body_bytes to a size, for example limits.unproved_body_bytes: 1MiB.',
  },
  {
    name: 'limits.body_bytes_per_minute',
    kind: 'bytes',
    fallback: '16KiB',
    min: 0,
    max: 1024 * MIB,
    meaning: 'the least that a body must deliver per minute of waiting, otherwise 408; 0: no limit',
    advice:
      'Set limits.body_bytes_per_minute to a size, or to 0 for no limit, for example limits.body_bytes_per_minute: 16KiB.',
  },
  {
    name: 'limits.answer_bytes_per_minute',
    kind: 'bytes',
    fallback: '16KiB',
    min: 0,
    max: 1024 * MIB,
    meaning:
      'the least that a client must take of the contents of an object per minute of waiting, otherwise its connection is closed; 0: no limit',
    advice:
      'Set limits.answer_bytes_per_minute to a size, or to 0 for no limit, for example limits.answer_bytes_per_minute: 16KiB.',
  },
  {
    name: 'limits.request_duration',
    kind: 'duration',
    fallback: '24h',
    min: 60 * SECOND,
    max: 30 * DAY,
    meaning:
      'the longest that one request may take, with its body and its answer; an upload ends with 408, a download with a broken connection',
    advice: 'Set limits.request_duration to a duration, for example limits.request_duration: 24h.',
  },
] as const satisfies readonly Setting[]
