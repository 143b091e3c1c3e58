/**
 * Which stage of a request each part of the program belongs to.
 *
 * Owns: the table, from paths of sources to stages; the longest path counts. Knows nothing of: samples, processes.
 * Rules: an own file without a row is a stage of its own, so that it is seen; `test/bench/profile.test.ts` refuses a path that does not exist.
 */

import { join } from 'node:path'

/** Stages in the order of the page. */
export const STAGES = [
  'node:http, sockets, streams (edge and peers)',
  'between edge threads and main',
  'parse, route, validate',
  'authenticate',
  'authorize',
  'limits, admission',
  'operation',
  'barrier',
  'read state',
  'digest, cut, seal, open',
  'blobs: copies and packs',
  'propose, batch',
  'Raft core',
  'peers: transport and codec',
  'log',
  'apply: decisions',
  'apply: rows to LevelDB',
  'audit',
  'answer',
  'request log, metrics',
  'workers in the background',
  'fastify and its routes',
  'undici',
  'msgpackr',
  'node: other',
  'garbage collection',
  'native code and kernel under no script',
] as const
export type Stage = (typeof STAGES)[number]

/** Folders end with a slash. */
export const OWN_PATHS: Readonly<Record<string, Stage>> = {
  'cluster/': 'Raft core',
  'cluster/base/': 'Raft core',
  'cluster/blobs/': 'blobs: copies and packs',
  'cluster/blob-parts.ts': 'blobs: copies and packs',
  'cluster/node/': 'propose, batch',
  'cluster/node/log/': 'log',
  'cluster/node/reads/': 'barrier',
  'cluster/node/state/': 'apply: decisions',
  'cluster/raft/': 'Raft core',
  'cluster/repair/': 'workers in the background',
  'cluster/quorum-recovery/': 'workers in the background',
  'cluster/directory/': 'workers in the background',
  'cluster/placement/': 'blobs: copies and packs',
  'cluster/transport/': 'peers: transport and codec',
  'cluster/wal/': 'log',
  'src/access/': 'authenticate',
  'src/access/authorize.ts': 'authorize',
  'src/access/rights.ts': 'authorize',
  'src/access/scopes.ts': 'authorize',
  'src/access/policies/': 'authorize',
  'src/api/': 'parse, route, validate',
  'src/api/edge-threads/': 'between edge threads and main',
  'src/api/send-answer.ts': 'answer',
  'src/api/stored-bytes.ts': 'answer',
  'src/api/json-bytes.ts': 'answer',
  'src/api/json-page.ts': 'answer',
  'src/api/paced-write.ts': 'answer',
  'src/api/rate-headers.ts': 'answer',
  'src/api/link-headers.ts': 'answer',
  'src/api/native/object-answers.ts': 'answer',
  'src/api/native/object-view.ts': 'answer',
  'src/api/native/listing.ts': 'answer',
  'src/api/native/representation-headers.ts': 'answer',
  'src/api/native/version-headers.ts': 'answer',
  'src/api/audit-note.ts': 'audit',
  'src/api/request-audit.ts': 'audit',
  'src/api/request-log.ts': 'request log, metrics',
  'src/api/admission/': 'limits, admission',
  'src/audit/': 'audit',
  'src/backup/': 'workers in the background',
  'src/base/': 'operation',
  'src/cli/': 'workers in the background',
  'src/client/': 'workers in the background',
  'src/commands/': 'propose, batch',
  'src/config/': 'workers in the background',
  'src/doctor/': 'workers in the background',
  'src/content/': 'digest, cut, seal, open',
  'src/limits/': 'limits, admission',
  'src/operations/': 'operation',
  'src/quorum-recovery/': 'workers in the background',
  'src/s3-client/': 'workers in the background',
  'src/service/': 'operation',
  'src/state-machine/': 'apply: decisions',
  'src/store/': 'apply: rows to LevelDB',
  'src/store/reads/': 'read state',
  'src/telemetry/': 'request log, metrics',
  'src/workers/': 'workers in the background',
}

/** Of code that no own function called, by a part of its address. The first that fits. */
const OTHERS: readonly (readonly [part: string, stage: Stage])[] = [
  ['node_modules/undici', 'undici'],
  ['node_modules/msgpackr', 'msgpackr'],
  ['node_modules/classic-level', 'apply: rows to LevelDB'],
  ['node_modules/abstract-level', 'apply: rows to LevelDB'],
  ['node_modules/pino', 'request log, metrics'],
  ['node_modules/sonic-boom', 'request log, metrics'],
  ['node_modules/prom-client', 'request log, metrics'],
  ['node_modules/', 'fastify and its routes'],
  ['node:_http', 'node:http, sockets, streams (edge and peers)'],
  ['node:http', 'node:http, sockets, streams (edge and peers)'],
  ['node:net', 'node:http, sockets, streams (edge and peers)'],
  ['node:internal/http', 'node:http, sockets, streams (edge and peers)'],
  ['node:internal/stream', 'node:http, sockets, streams (edge and peers)'],
  ['node:internal/net', 'node:http, sockets, streams (edge and peers)'],
  ['node:tls', 'node:http, sockets, streams (edge and peers)'],
  ['node:_tls', 'node:http, sockets, streams (edge and peers)'],
  ['node:', 'node: other'],
]

/** Built by the compiler before, or the sources themselves. `root`: the folder of the checkout, with a slash at its end or without. */
export function ownPathOf(url: string, root: string): string | null {
  const path = url.replace('file://', '')
  const folder = join(root, '/')
  if (!path.startsWith(folder) || path.includes('node_modules/')) return null
  return path
    .slice(folder.length)
    .replace(/^dist\//, '')
    .replace(/\.js$/, '.ts')
}

/** Null: no row fits. */
export function stageOfOwn(path: string): Stage | null {
  let found: string | null = null
  for (const prefix of Object.keys(OWN_PATHS)) {
    const fits = prefix.endsWith('/') ? path.startsWith(prefix) : path === prefix
    if (fits && prefix.length > (found?.length ?? 0)) found = prefix
  }
  return found === null ? null : (OWN_PATHS[found] ?? null)
}

export interface Frame {
  readonly functionName: string
  readonly url: string
}

/** Of a function that is not ours and that no function of ours called. */
export function stageOfOther({ functionName, url }: Frame): Stage {
  if (functionName === '(garbage collector)') return 'garbage collection'
  const found = OTHERS.find(([part]) => url.includes(part))
  return found?.[1] ?? 'native code and kernel under no script'
}
