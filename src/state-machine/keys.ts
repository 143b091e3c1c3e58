/**
 * The layout of the key space: one function per kind of row, and the ranges that listings walk.
 *
 * Owns: how a row key is spelled; docs/formats/keyspace.md shows it as a table. Knows nothing of: values, LevelDB.
 * Rules: parts are joined by NUL, which no part contains, so no row of one owner can sort into another's range. Keys
 * are well-formed strings: their order by code point is their order as UTF-8 bytes. Rows of a bucket share a prefix.
 */
import type {
  AccessKeyId,
  AccountId,
  BucketId,
  ChunkId,
  DeliveryName,
  HookId,
  TenantId,
  VersionId,
} from './records.ts'
import { BASE32 } from './version-id.ts'
import type { RowKey, RowKind } from './view.ts'

const SEPARATOR = '\u0000'
/** A lone surrogate has no UTF-8 form: two such keys could fall together on disk. */
const LONE_SURROGATE = /[\ud800-\udfff]/u
const LAST_CODE_POINT = 0x10ffff
const PAGE_DIGITS = 8
/** Of a safe integer. */
const INDEX_DIGITS = 14
/** One digit: more copies than this are no more urgent. */
const COPIES_SHOWN_MAX = 9

/** Whether a name may stand inside a row key. */
export function isKeyPart(part: string): boolean {
  return part !== '' && !part.includes(SEPARATOR) && !LONE_SURROGATE.test(part)
}

function join<K extends RowKind>(...parts: readonly string[]): RowKey<K> {
  return parts.join(SEPARATOR)
}

/** Ascending as text. */
function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0')
}

/** Of equal length and of BASE32 characters alone: what sorted first sorts last. */
function descending(version: VersionId): string {
  return Array.from(version, (character) =>
    BASE32.charAt(BASE32.length - 1 - BASE32.indexOf(character)),
  ).join('')
}

/** `copies`: how many are listed now. The key changes with it, so that what is nearest to loss comes first. */
export interface RepairName {
  readonly target: string
  readonly copies: number
  readonly birth: string
  readonly id: ChunkId
}

export const keys = {
  clusterKey: (): RowKey<'clusterKey'> => join('clusterKey'),
  tenant: (id: TenantId): RowKey<'tenant'> => join('tenant', id),
  accessKey: (id: AccessKeyId): RowKey<'accessKey'> => join('accessKey', id),
  tenantAccessKey: (tenant: TenantId, id: AccessKeyId): RowKey<'tenantAccessKey'> =>
    join('tenantAccessKey', tenant, id),
  account: (tenant: TenantId, id: AccountId): RowKey<'account'> => join('account', tenant, id),
  accountName: (tenant: TenantId, name: string): RowKey<'accountName'> => join('accountName', tenant, name),
  tenantAccess: (tenant: TenantId): RowKey<'tenantAccess'> => join('tenantAccess', tenant),
  adminToken: (tokenId: string): RowKey<'adminToken'> => join('adminToken', tokenId),
  adminTokenHash: (sha256: string): RowKey<'adminTokenHash'> => join('adminTokenHash', sha256),
  bucket: (tenant: TenantId, name: string): RowKey<'bucket'> => join('bucket', tenant, name),
  bucketPolicy: (bucket: BucketId): RowKey<'bucketPolicy'> => join('in', bucket, 'bucketPolicy'),
  cors: (bucket: BucketId): RowKey<'cors'> => join('in', bucket, 'cors'),
  object: (bucket: BucketId, key: string): RowKey<'object'> => join('in', bucket, 'object', key),
  /** Every version that is not the current object; of a key the newest comes first. */
  version: (bucket: BucketId, key: string, version: VersionId): RowKey<'version'> =>
    join('in', bucket, 'version', key, descending(version)),
  /** Beside the row of a version that carries a retention or a legal hold, wherever that lies. */
  lockedVersion: (bucket: BucketId, key: string, version: VersionId): RowKey<'lockedVersion'> =>
    join('in', bucket, 'lockedVersion', key, version),
  chain: (bucket: BucketId, key: string): RowKey<'chain'> => join('in', bucket, 'chain', key),
  idempotency: (bucket: BucketId, key: string, name: string): RowKey<'idempotency'> =>
    join('in', bucket, 'idempotency', key, name),
  upload: (bucket: BucketId, key: string, uploadId: string): RowKey<'upload'> =>
    join('in', bucket, 'upload', key, uploadId),
  uploadPage: (bucket: BucketId, uploadId: string, page: number): RowKey<'uploadPage'> =>
    join('in', bucket, 'uploadPage', uploadId, hex(page, PAGE_DIGITS)),
  completed: (bucket: BucketId, key: string, uploadId: string): RowKey<'completed'> =>
    join('in', bucket, 'completed', key, uploadId),
  partPage: (bucket: BucketId, version: VersionId, page: number): RowKey<'partPage'> =>
    join('in', bucket, 'partPage', version, hex(page, PAGE_DIGITS)),
  /** By version id, which ascends: bodies and manifests are appended to the key space, never scattered over it. */
  inlineBody: (bucket: BucketId, version: VersionId): RowKey<'inlineBody'> =>
    join('in', bucket, 'inlineBody', version),
  manifestPage: (bucket: BucketId, version: VersionId, page: number): RowKey<'manifestPage'> =>
    join('in', bucket, 'manifestPage', version, hex(page, PAGE_DIGITS)),
  chunk: (tenant: TenantId, id: ChunkId): RowKey<'chunk'> => join('chunk', tenant, id),
  making: (birth: string, id: ChunkId): RowKey<'making'> => join('making', birth, id),
  condemned: (index: number, tenant: TenantId, id: ChunkId): RowKey<'condemned'> =>
    join('condemned', hex(index, INDEX_DIGITS), tenant, id),
  drop: (node: string, birth: string, id: ChunkId): RowKey<'drop'> => join('drop', node, birth, id),
  /** Few copies before many, then birth before chunk: births ascend within a session, and a later birth is another row. */
  repair: (task: RepairName): RowKey<'repair'> =>
    join('repair', task.target, Math.min(task.copies, COPIES_SHOWN_MAX).toString(), task.birth, task.id),
  repairTotal: (): RowKey<'repairTotal'> => join('repairTotal'),
  session: (id: string): RowKey<'session'> => join('session', id),
  nodeSessions: (node: string): RowKey<'nodeSessions'> => join('nodeSessions', node),
  usage: (tenant: TenantId): RowKey<'usage'> => join('usage', tenant),
  quota: (tenant: TenantId): RowKey<'quota'> => join('quota', tenant),
  expiry: (at: number, id: string): RowKey<'expiry'> => join('expiry', hex(at, INDEX_DIGITS), id),
  discard: (id: string): RowKey<'discard'> => join('discard', id),
  notifications: (bucket: BucketId): RowKey<'notifications'> => join('in', bucket, 'notifications'),
  /** The newest comes first. */
  delivery: ({ bucketId, eventId, hookId }: DeliveryName): RowKey<'delivery'> =>
    join('in', bucketId, 'delivery', descending(eventId), hookId),
  due: ({ bucketId, hookId, eventId }: DeliveryName, at: number): RowKey<'due'> =>
    join('in', bucketId, 'due', hookId, hex(at, INDEX_DIGITS), eventId),
  settled: (
    { bucketId, hookId, eventId }: DeliveryName,
    status: 'delivered' | 'dead',
    at: number,
  ): RowKey<'settled'> => join('in', bucketId, 'settled', hookId, status, hex(at, INDEX_DIGITS), eventId),
  hook: (bucket: BucketId, id: HookId): RowKey<'hook'> => join('hook', bucket, id),
  busyHook: (bucket: BucketId, id: HookId): RowKey<'busyHook'> => join('busyHook', bucket, id),
  outbox: (tenant: TenantId): RowKey<'outbox'> => join('outbox', tenant),
  outboxTotal: (): RowKey<'outboxTotal'> => join('outboxTotal'),
  operation: (id: string): RowKey<'operation'> => join('operation', id),
  operationList: (): RowKey<'operationList'> => join('operationList'),
  settings: (): RowKey<'settings'> => join('settings'),
  members: (): RowKey<'members'> => join('members'),
  leavers: (): RowKey<'leavers'> => join('leavers'),
  clusterRecoveries: (): RowKey<'clusterRecoveries'> => join('clusterRecoveries'),
  /** By its place in the chain: appended to the key space, trimmed from its beginning. */
  auditLink: (sequence: number): RowKey<'auditLink'> => join('auditLink', hex(sequence, INDEX_DIGITS)),
  auditHead: (): RowKey<'auditHead'> => join('auditHead'),
  auditSpool: (node: string, spool: string): RowKey<'auditSpool'> => join('auditSpool', node, spool),
} as const

/** Half-open, in the order of UTF-8 bytes. */
export interface KeyRange {
  readonly start: string
  readonly end: string
}

function rangeOf(...parts: readonly string[]): KeyRange {
  const start = parts.join(SEPARATOR) + SEPARATOR
  return { start, end: successor(start) }
}

export const ranges = {
  tenants: (): KeyRange => rangeOf('tenant'),
  tenantAccessKeys: (tenant: TenantId): KeyRange => rangeOf('tenantAccessKey', tenant),
  accounts: (tenant: TenantId): KeyRange => rangeOf('account', tenant),
  adminTokens: (): KeyRange => rangeOf('adminToken'),
  buckets: (tenant: TenantId): KeyRange => rangeOf('bucket', tenant),
  objects: (bucket: BucketId): KeyRange => rangeOf('in', bucket, 'object'),
  versions: (bucket: BucketId): KeyRange => rangeOf('in', bucket, 'version'),
  lockedVersions: (bucket: BucketId): KeyRange => rangeOf('in', bucket, 'lockedVersion'),
  idempotencies: (bucket: BucketId): KeyRange => rangeOf('in', bucket, 'idempotency'),
  completions: (bucket: BucketId): KeyRange => rangeOf('in', bucket, 'completed'),
  manifestPages: (bucket: BucketId): KeyRange => rangeOf('in', bucket, 'manifestPage'),
  uploads: (bucket: BucketId): KeyRange => rangeOf('in', bucket, 'upload'),
  /** From page `first` on. */
  uploadPages: (bucket: BucketId, uploadId: string, first: number): KeyRange => ({
    start: keys.uploadPage(bucket, uploadId, first),
    end: rangeOf('in', bucket, 'uploadPage', uploadId).end,
  }),
  /** What ends at `before` or earlier. */
  expiries: (before: number): KeyRange => ({
    start: rangeOf('expiry').start,
    end: keys.expiry(before + 1, ''),
  }),
  discards: (): KeyRange => rangeOf('discard'),
  repairs: (): KeyRange => rangeOf('repair'),
  repairsOf: (target: string): KeyRange => rangeOf('repair', target),
  chunks: (): KeyRange => rangeOf('chunk'),
  chunksOf: (tenant: TenantId): KeyRange => rangeOf('chunk', tenant),
  condemned: (): KeyRange => rangeOf('condemned'),
  drops: (): KeyRange => rangeOf('drop'),
  dropsOf: (node: string): KeyRange => rangeOf('drop', node),
  deliveries: (bucket: BucketId): KeyRange => rangeOf('in', bucket, 'delivery'),
  /** Of one hook, what is due at `before` or earlier. */
  due: (bucket: BucketId, hook: HookId, before: number): KeyRange => ({
    start: rangeOf('in', bucket, 'due', hook).start,
    end: keys.due({ bucketId: bucket, hookId: hook, eventId: '' }, before + 1),
  }),
  /** Of one hook, the earliest first. */
  settled: (bucket: BucketId, hook: HookId, status: 'delivered' | 'dead'): KeyRange =>
    rangeOf('in', bucket, 'settled', hook, status),
  hooks: (): KeyRange => rangeOf('hook'),
  busyHooks: (): KeyRange => rangeOf('busyHook'),
  operations: (): KeyRange => rangeOf('operation'),
  nodeSessions: (): KeyRange => rangeOf('nodeSessions'),
  auditLinks: (): KeyRange => rangeOf('auditLink'),
} as const

/** The part of `range` whose names begin with `prefix`. */
export function narrow(range: KeyRange, prefix: string): KeyRange {
  if (prefix === '') return range
  const start = range.start + prefix
  return { start, end: successor(start) }
}

/**
 * The smallest string above everything that begins with `prefix`. The last code point is raised by one; the gap of
 * the surrogates is stepped over, and a code point that cannot be raised is dropped.
 */
export function successor(prefix: string): string {
  const points = Array.from(prefix)
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    const point = last.codePointAt(0) ?? LAST_CODE_POINT
    if (point < LAST_CODE_POINT) {
      return points.join('') + String.fromCodePoint(point === 0xd7ff ? 0xe000 : point + 1)
    }
  }
  throw new Error('Cannot find a successor: the prefix is empty or consists of the last code point alone')
}

/** Behind which delivery a page ended, as a name inside `ranges.deliveries`. */
export function deliveryPosition(name: DeliveryName): string {
  return keys.delivery(name).slice(ranges.deliveries(name.bucketId).start.length)
}

/** Which page of which body a manifest row is. */
export function manifestNameIn(key: RowKey<'manifestPage'>): {
  readonly version: VersionId
  readonly page: number
} {
  const [, , , version = '', page = ''] = key.split(SEPARATOR)
  return { version, page: Number.parseInt(page, 16) }
}

/** The place of a link in the chain. */
export function auditSequenceOf(key: RowKey<'auditLink'>): number {
  const [, sequence = ''] = key.split(SEPARATOR)
  return Number.parseInt(sequence, 16)
}

/** Whose task a repair row is; null when the key is of another kind. */
export function repairTargetOf(key: string): string | null {
  const [kind, target] = key.split(SEPARATOR, 2)
  return kind === 'repair' && target !== undefined ? target : null
}

/** For messages: which kind of row a key belongs to, without the names inside it. */
export function kindOf(key: string): string {
  const parts = key.split(SEPARATOR, 3)
  return (parts[0] === 'in' ? parts[2] : parts[0]) ?? 'unknown'
}
