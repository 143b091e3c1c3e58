/**
 * Which rows of a cut belong to the backup of one tenant.
 *
 * Owns: the list, and what becomes of rows that count several tenants. Knows nothing of: targets, files. No I/O.
 * Rules: every kind of row is in the list, so a new one does not compile before it is decided; what speaks of other tenants, of operators and of
 * the audit log stays out; rows come in the order of their keys; what clients of the tenant stored is not changed.
 */
import type { ExpiryRecord } from '../../state-machine/objects/records.ts'
import type { HookRecord, OutboxTotalRecord } from '../../state-machine/events/records.ts'
import { kindOf, SEPARATOR } from '../../state-machine/base/row-key.ts'
import type { TenantId } from '../../state-machine/base/record-ids.ts'
import type { SettingsRecord } from '../../state-machine/chunks/records.ts'
import type { LongOperation } from '../../state-machine/long-operations/records.ts'
import type { RowTypes } from '../../state-machine/rows.ts'
import type { ClusterKeyRecord } from '../../state-machine/tenants/records.ts'

/**
 * `never`: it stays out. `named`: the second part of the key is the tenant, `owned`: the row says whose it is, `inBucket`: the second part of the key is
 * a bucket of the tenant, `asked`: decided below.
 */
type Belonging = 'never' | 'named' | 'owned' | 'inBucket' | 'asked'

const KINDS: Readonly<Record<keyof RowTypes | 'nodeSessions' | 'leavers', Belonging>> = {
  clusterKey: 'asked',
  tenant: 'named',
  sealed: 'named',
  accessKey: 'owned',
  tenantAccessKey: 'named',
  account: 'named',
  accountName: 'named',
  tenantAccess: 'named',
  adminToken: 'never',
  adminTokenHash: 'never',
  adminSessions: 'never',
  bucket: 'named',
  bucketPolicy: 'inBucket',
  cors: 'inBucket',
  bucketTags: 'inBucket',
  lifecycle: 'inBucket',
  lifecycleWalk: 'inBucket',
  lifecycleTurn: 'asked',
  site: 'inBucket',
  siteState: 'inBucket',
  busySite: 'inBucket',
  siteChange: 'inBucket',
  failedSiteChange: 'inBucket',
  tenantSite: 'named',
  waitingSite: 'named',
  object: 'inBucket',
  version: 'inBucket',
  lockedVersion: 'inBucket',
  chain: 'inBucket',
  idempotency: 'inBucket',
  upload: 'inBucket',
  uploadPage: 'inBucket',
  partPage: 'inBucket',
  completed: 'inBucket',
  inlineBody: 'inBucket',
  manifestPage: 'inBucket',
  chunk: 'named',
  making: 'owned',
  condemned: 'asked',
  drop: 'never',
  repair: 'never',
  repairTotal: 'never',
  // It separates what uploads of the old cluster made from what those of the new one make.
  session: 'asked',
  nodeSessions: 'never',
  nodeUploadSessions: 'never',
  usage: 'named',
  quota: 'named',
  limits: 'named',
  approval: 'never',
  approvalList: 'never',
  expiry: 'asked',
  discard: 'owned',
  discarded: 'owned',
  settings: 'asked',
  members: 'asked',
  leavers: 'never',
  leavingNodes: 'never',
  clusterRecoveries: 'never',
  notifications: 'inBucket',
  hook: 'asked',
  busyHook: 'inBucket',
  tenantHooks: 'named',
  originHooks: 'named',
  delivery: 'inBucket',
  due: 'inBucket',
  settled: 'inBucket',
  outbox: 'named',
  outboxTotal: 'asked',
  operation: 'asked',
  operationList: 'asked',
  backupTarget: 'never',
  backupSchedule: 'never',
  backupNames: 'never',
  backupChecks: 'never',
  auditLink: 'never',
  auditHead: 'never',
  auditSegment: 'never',
  auditKeys: 'never',
  auditExport: 'never',
  auditSpool: 'never',
}

/** Kinds whose rows name a bucket of a tenant, which may be gone although rows of it are still there. */
export const BUCKET_KINDS = ['bucket', 'discard', 'discarded', 'hook', 'siteState'] as const

/** The bucket that a row of BUCKET_KINDS names; null: it is another tenant's. */
export function bucketIn(tenantId: TenantId, row: object): string | null {
  const { tenantId: owner, id, bucketId = id } = row as Readonly<Record<string, string | undefined>>
  return owner === tenantId && bucketId !== undefined ? bucketId : null
}

type Taken = object | null | 'same'

export class TenantRows {
  readonly tenantId: TenantId
  readonly #buckets: ReadonlySet<string>
  readonly #operations = new Set<string>()
  #outbox: OutboxTotalRecord = { pending: 0, dead: 0, delivered: 0, dropped: 0 }

  /** `buckets`: ids of all that the tenant has, and of those that are gone and have rows left. */
  constructor(tenantId: TenantId, buckets: ReadonlySet<string>) {
    this.tenantId = tenantId
    this.#buckets = buckets
  }

  /** Null: the row stays out. The same row: it belongs as it is. */
  take(key: string, row: () => object): Taken {
    const kind = kindOf(key)
    const [, second = ''] = key.split(SEPARATOR, 2)
    switch (belongingOf(kind)) {
      case 'never':
        return null
      case 'named':
        return this.#if(second === this.tenantId)
      case 'owned':
        return this.#if((row() as { readonly tenantId?: string }).tenantId === this.tenantId)
      case 'inBucket':
        return this.#if(this.#buckets.has(second))
      case 'asked':
        return this.#ask(kind as keyof RowTypes, key.split(SEPARATOR), row())
    }
  }

  #if(belongs: boolean): Taken {
    return belongs ? 'same' : null
  }

  #ask(kind: keyof RowTypes, [, , third = '']: readonly string[], row: object): Taken {
    switch (kind) {
      case 'condemned':
        return this.#if(third === this.tenantId)
      case 'lifecycleTurn':
        return this.#if(this.#buckets.has(third))
      case 'expiry':
        return this.#if(this.#buckets.has((row as ExpiryRecord).what.bucketId))
      case 'session':
        return 'same'
      case 'hook':
        return this.#hook(row as HookRecord)
      case 'outboxTotal':
        return this.#outbox
      case 'operation':
        return this.#operation(row as LongOperation)
      case 'operationList':
        return this.#operationList(row as RowTypes['operationList'])
      case 'clusterKey':
        return { masterKeyFingerprint: (row as ClusterKeyRecord).masterKeyFingerprint }
      case 'settings':
        return { ...(row as SettingsRecord), lastRecount: null, collectionResumed: null }
      case 'members':
        return { members: [], departed: [], configIndex: 0, change: null } satisfies RowTypes['members']
      default:
        throw new Error(`Cannot decide about a row of kind "${kind}"`)
    }
  }

  /** Rows of hooks come before the row with the sum. */
  #hook(row: HookRecord): Taken {
    if (row.tenantId !== this.tenantId) return null
    const { pending, dead, delivered, dropped } = this.#outbox
    this.#outbox = {
      pending: pending + row.pending,
      dead: dead + row.dead,
      delivered: delivered + row.delivered,
      dropped: dropped + row.dropped,
    }
    return 'same'
  }

  /** Its deletion, which continues; what operators asked for besides is of the cluster. */
  #operation({ operationId, kind, tenantId }: LongOperation): Taken {
    if (kind !== 'tenantDeletion' || tenantId !== this.tenantId) return null
    this.#operations.add(operationId)
    return 'same'
  }

  #operationList({ unfinished, finished }: RowTypes['operationList']): Taken {
    const isKept = (id: string): boolean => this.#operations.has(id)
    return { unfinished: unfinished.filter(isKept), finished: finished.filter(isKept) }
  }
}

function belongingOf(kind: string): Belonging {
  if (Object.hasOwn(KINDS, kind)) return KINDS[kind as keyof typeof KINDS]
  throw new Error(`Cannot decide whose a row of kind "${kind}" is`)
}
