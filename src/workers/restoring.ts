/**
 * Drives restores of a tenant or bucket into the running cluster: bucket after bucket its versions, then the comparison with the backup, then its settings.
 * [docs/adr/0094-restore-into-the-running-cluster.md]
 *
 * Owns: the order, the pace, the place in the cursor. Knows nothing of: how versions are found and opened (src/backup/restore-into), what may be restored; apply decides
 * that. Rules: what a step made and the place behind it are one entry, so another node continues there and nothing comes twice; a bucket gets its settings
 * only after it was compared; what did not come back is named, and does not end the restore.
 */
import { randomBytes } from 'node:crypto'
import { Condition, type Cluster, type Logger } from '../../cluster/index.ts'
import type { MasterKey } from '../access/master-key.ts'
import { tenantDataKey, tenantDedupKey } from '../access/sealing-contexts.ts'
import { compareVersions } from '../backup/restore-into/comparison.ts'
import { type OpenedSource, SourceKeeper } from '../backup/restore-into/opened-source.ts'
import { cursorOf, placeIn, type RestorePlace } from '../backup/restore-into/restore-cursor.ts'
import {
  factsOf,
  type MadeItems,
  type Making,
  missingVersion,
  nextVersions,
  partItems,
  versionItems,
} from '../backup/restore-into/restored-items.ts'
import { PieceMissing } from '../backup/restore-into/source-bodies.ts'
import {
  bucketsOf,
  dedupKeyOf,
  figuresOf,
  keysOf,
  ScopeUnknown,
  settingsOf,
  tenantSettingsOf,
} from '../backup/restore-into/source-scope.ts'
import { Pace, type PaceParts } from '../backup/restore-into/pace.ts'
import { newestFirst, oldestFirst, placeOf, versionAtPlace } from '../backup/restore-into/version-walk.ts'
import type { OpenTarget } from '../backup/targets/open-target.ts'
import { TargetError } from '../backup/targets/target.ts'
import { Refusal } from '../base/refusal.ts'
import type { Propose } from '../commands/propose.ts'
import type { Content } from '../content/content.ts'
import type { UploadOutcome, Uploads } from '../content/uploads.ts'
import { bucketKeys } from '../state-machine/buckets/keys.ts'
import type { BucketRecord } from '../state-machine/buckets/records.ts'
import { longOperationKeys } from '../state-machine/long-operations/keys.ts'
import { unfinishedOperations } from '../state-machine/long-operations/operations.ts'
import type { BackupRestore, LongOperation } from '../state-machine/long-operations/records.ts'
import type { RestoringCommand } from '../state-machine/restoring/commands.ts'
import { tenantKeys } from '../state-machine/tenants/keys.ts'
import type { TenantRecord } from '../state-machine/tenants/records.ts'
import type { StateReader } from '../store/reads/state-reader.ts'
import { Abandoned } from './base/abandoned.ts'
import { RetryWait } from './base/retry-wait.ts'

export interface RestoringParts extends PaceParts {
  readonly cluster: Pick<Cluster, 'isJobRunner' | 'blobs'>
  readonly uploads: Uploads
  readonly state: StateReader
  readonly propose: Propose
  readonly masterKey: Pick<MasterKey, 'open' | 'seal'> & { readonly id: string }
  readonly openTarget: OpenTarget
  readonly content: Pick<Content, 'ingest' | 'read'>
  readonly config: { readonly limits: { readonly bucketsPerTenantMax: number } }
  readonly logger: Logger
}

type Restore = LongOperation & { readonly restore: BackupRestore }
type Step = Partial<Pick<RestoringCommand, 'counted' | 'bucket' | 'items' | 'missing'>>

const ERROR_MAX = 1024
const KEY_BYTES = 32

export class Restoring {
  readonly #parts: RestoringParts
  readonly #retry = new RetryWait()
  /** Of the round under way. */
  #signal: AbortSignal = new AbortController().signal
  readonly #sources: SourceKeeper
  readonly #pace: Pace

  constructor(parts: RestoringParts) {
    this.#parts = parts
    this.#sources = new SourceKeeper(parts)
    this.#pace = new Pace(parts)
  }

  /** One step of the restore under way, which ends early when the signal fires; resolves with true when there is more to do at once. Throws Condition. */
  async round(signal: AbortSignal): Promise<boolean> {
    const { cluster, state, now } = this.#parts
    this.#signal = signal
    const operation = cluster.isJobRunner() ? unfinishedOperations(state).find(isWorkable) : undefined
    if (operation === undefined) {
      await this.#sources.close()
      return false
    }
    if (!this.#retry.isDue(now())) return false
    try {
      const isMore = await this.#step(operation)
      this.#retry.ended()
      return isMore
    } catch (error) {
      return await this.#failed(operation, error)
    }
  }

  /** Ends the connections to the target. */
  close(): Promise<void> {
    return this.#sources.close()
  }

  async #failed({ operationId }: Restore, error: unknown): Promise<boolean> {
    if (error instanceof Abandoned || this.#signal.aborted) return false
    await this.#sources.close()
    const { logger, now } = this.#parts
    const isFinal = (error instanceof TargetError && !error.isRetryable) || error instanceof ScopeUnknown
    if (!isFinal) {
      const reason =
        error instanceof Condition || error instanceof Refusal ? error.code : String((error as Error).name)
      const { failures, isNews } = this.#retry.failed(now(), reason)
      if (isNews) logger.warn({ err: error, failures, operation: operationId }, 'restore waits')
      return false
    }
    logger.error({ err: error, operation: operationId }, 'restore failed')
    await this.#end(operationId, 'fail', error.message)
    return true
  }

  #step(operation: Restore): Promise<boolean> {
    const place = placeIn(operation.cursor)
    switch (place.step) {
      case 'begin':
        return this.#begin(operation)
      case 'bucket':
        return this.#bucket(operation, place.after)
      case 'versions':
        return this.#versions(operation, place)
      case 'parts':
        return this.#assemble(operation, place)
      case 'check':
        return this.#compare(operation, place)
      case 'settings':
        return this.#settings(operation, place.bucket)
      case 'end':
        return this.#finish(operation)
    }
  }

  async #begin(operation: Restore): Promise<boolean> {
    const { masterKey } = this.#parts
    const { from, to } = operation.restore
    const { rows, tenant } = await this.#source(operation)
    const { versions, deleteMarkers, bytes } = await figuresOf(rows, tenant.id, from.bucket)
    const counted = { blobsTotal: 2 * (versions + deleteMarkers), bytesTotal: bytes }
    const dedupKey = dedupKeyOf(tenant, masterKey)
    const keys = {
      dataKey: masterKey.seal(randomBytes(KEY_BYTES), tenantDataKey(to.tenantId)),
      dedupKey: masterKey.seal(dedupKey, tenantDedupKey(to.tenantId)),
      masterKeyId: masterKey.id,
    }
    dedupKey.fill(0)
    const items = to.tenantName === null ? [] : [{ what: 'tenant', ...keys } as const]
    return this.#advance(operation, { step: 'bucket', after: null }, { counted, items })
  }

  async #bucket(operation: Restore, after: string | null): Promise<boolean> {
    const { from } = operation.restore
    const { rows, tenant } = await this.#source(operation)
    const walk = bucketsOf(rows, tenant.id, { bucket: from.bucket, ...(after === null ? {} : { after }) })
    const { value: bucket } = await walk.next()
    await walk.return(undefined)
    if (bucket === undefined || bucket === null) return this.#tenantSettings(operation)
    const { name, versioning, objectLockEnabled } = bucket
    const bucketsMax = this.#parts.config.limits.bucketsPerTenantMax
    const items = [{ what: 'bucket', versioning, objectLockEnabled, bucketsMax } as const]
    return this.#advance(operation, { step: 'versions', bucket: name, after: null }, { bucket: name, items })
  }

  async #versions(
    operation: Restore,
    { bucket: name, after }: Extract<RestorePlace, { step: 'versions' }>,
  ): Promise<boolean> {
    const making = await this.#making(operation, name)
    const { rows } = making.source
    const walk = oldestFirst(rows, making.bucket.id, after)
    const { versions, assembled } = await nextVersions(walk)
    await walk.return(undefined)
    const last = versions.at(-1)
    if (last !== undefined) {
      const made = await versionItems(versions, making)
      const next = { step: 'versions', bucket: name, after: placeOf(last) } as const
      return this.#commit(operation, next, { made, bucket: name, versions: made.items.length })
    }
    if (assembled !== null)
      return this.#assemble(operation, { step: 'parts', bucket: name, version: placeOf(assembled), done: 0 })
    return this.#advance(operation, { step: 'check', bucket: name, checked: null }, {})
  }

  /** The first step makes the upload in which the parts are collected, and the last one the version. */
  async #assemble(operation: Restore, place: Extract<RestorePlace, { step: 'parts' }>): Promise<boolean> {
    const { bucket: name, version: at, done } = place
    const making = await this.#making(operation, name)
    const version = await versionAtPlace(making.source.rows, making.bucket.id, at)
    if (version?.kind !== 'object' || version.body.kind !== 'parts')
      throw new ScopeUnknown('The backup has another object than before where its parts were')
    const { key, body } = version
    const behind = { step: 'versions', bucket: name, after: at } as const
    try {
      const made = await partItems(version, done, making)
      const reached = done + made.items.length
      const { masterKeyId } = making.tenant
      const first = done === 0 ? [{ what: 'upload', key, masterKeyId } as const] : []
      const isWhole = reached >= body.count
      const last = isWhole
        ? [{ what: 'assembled', parts: body.count, ...factsOf(version, making.tenant) } as const]
        : []
      const items = [...first, ...made.items, ...last]
      const next = isWhole ? behind : { ...place, done: reached }
      return await this.#commit(operation, next, {
        made: { ...made, items },
        bucket: name,
        versions: Number(isWhole),
      })
    } catch (error) {
      if (!(error instanceof PieceMissing)) throw error
      const missing = [missingVersion(name, version, error.message)]
      const items = done === 0 ? [] : [{ what: 'dropped', key } as const]
      return this.#advance(operation, behind, {
        bucket: name,
        items,
        missing,
        counted: { checksumFailures: 1 },
      })
    }
  }

  async #compare(
    operation: Restore,
    { bucket: name, checked }: Extract<RestorePlace, { step: 'check' }>,
  ): Promise<boolean> {
    const { state, content } = this.#parts
    const { source, bucket: from, tenant, pace, sealed } = await this.#making(operation, name)
    const bucket = this.#destination(operation, name)
    const walk = newestFirst(source.rows, from.id, checked?.after ?? null)
    const comparing = { source, from, bucket, tenant, state, content, sealed, pace }
    const compared = await compareVersions(walk, checked, comparing)
    await walk.return(undefined)
    const { equal, absent, different } = compared
    if (compared.checked !== null) {
      const counted = { blobsDone: equal, skipped: absent, checksumFailures: different.length }
      const next = { step: 'check', bucket: name, checked: compared.checked } as const
      return this.#advance(operation, next, { counted, missing: different })
    }
    const others = bucket.versionCount + bucket.deleteMarkerCount - (checked?.met ?? 0)
    const why = `${others} versions in the bucket are not those of the backup`
    const missing = others === 0 ? [] : [{ bucket: name, key: '', versionId: '', isLatest: false, why }]
    return this.#advance(operation, { step: 'settings', bucket: name }, { missing })
  }

  async #settings(operation: Restore, name: string): Promise<boolean> {
    const { source, bucket } = await this.#making(operation, name)
    const items = [{ what: 'settings', ...(await settingsOf(source.rows, bucket)) } as const]
    return this.#advance(operation, { step: 'bucket', after: name }, { bucket: name, items })
  }

  async #tenantSettings(operation: Restore): Promise<boolean> {
    if (operation.restore.to.tenantName === null) return this.#advance(operation, { step: 'end' }, {})
    const { rows, tenant } = await this.#source(operation)
    const items = [{ what: 'limits', ...(await tenantSettingsOf(rows, tenant.id)) } as const]
    return this.#advance(operation, { step: 'end' }, { items })
  }

  async #finish({ operationId, restore, progress }: Restore): Promise<boolean> {
    const { missingCount } = restore
    const error =
      missingCount === 0 ? null : `${missingCount} versions did not come back whole; the operation names them`
    const isOver = await this.#end(operationId, 'finish', error)
    await this.#sources.close()
    const { logger } = this.#parts
    const about = { operation: operationId, missing: missingCount, bytes: progress.bytesMoved }
    if (missingCount > 0) logger.error(about, 'restore is incomplete')
    else logger.info(about, 'restore done')
    return isOver
  }

  async #end(operationId: string, action: 'finish' | 'fail', why: string | null): Promise<boolean> {
    const error = why?.slice(0, ERROR_MAX) ?? null
    return (await this.#parts.propose({ type: 'setOperationStatus', operationId, action, error })).ok
  }

  async #commit(
    operation: Restore,
    next: RestorePlace,
    {
      made,
      bucket,
      versions,
    }: { readonly made: MadeItems; readonly bucket: string; readonly versions: number },
  ): Promise<boolean> {
    const { items, missing, bytes } = made
    const counted = { blobsDone: versions, bytesMoved: bytes, checksumFailures: missing.length }
    let outcome: UploadOutcome = 'unknown'
    try {
      const isMore = await this.#advance(operation, next, { bucket, items, missing, counted })
      outcome = 'known'
      return isMore
    } finally {
      made.end(outcome)
    }
  }

  /** Where bytes are gone meanwhile, or another node was first, the next round begins the step again. */
  async #advance(
    { operationId, cursor: from, restore }: Restore,
    next: RestorePlace,
    { counted = {}, bucket = '', items = [], missing = [] }: Step,
  ): Promise<boolean> {
    const { propose, logger } = this.#parts
    for (const { why, ...version } of missing)
      logger.warn({ operation: operationId, ...version, reason: why }, 'version not restored')
    const about = { from, cursor: cursorOf(next), phase: PHASES[next.step], counted, items, missing }
    const to = restore.to.bucket ?? bucket
    const reply = await propose({ type: 'restoreStep', operationId, ...about, bucket: to })
    if (reply.ok) return true
    const isPassing =
      reply.code === 'chunks_gone' || reply.code === 'session_ended' || reply.code === 'basis_gone'
    if (isPassing || this.#isElsewhere(operationId, from)) return false
    await this.#end(operationId, 'fail', reply.message)
    logger.error({ operation: operationId, code: reply.code, reason: reply.message }, 'restore failed')
    return true
  }

  /** It was paused, or has ended, or another node has moved it. */
  #isElsewhere(operationId: string, cursor: string): boolean {
    const present = this.#parts.state.get(longOperationKeys.operation(operationId))
    return present === undefined || !isWorkable(present) || present.cursor !== cursor
  }

  #source({ operationId, restore }: Restore): Promise<OpenedSource> {
    return this.#sources.of(operationId, { ...restore, tenant: restore.from.tenantId })
  }

  /** `name`: of a bucket of the backup. */
  async #making(operation: Restore, name: string): Promise<Making> {
    const { cluster, state, content, uploads } = this.#parts
    const { to } = operation.restore
    const source = await this.#source(operation)
    const bucket = await source.rows.get(bucketKeys.bucket(source.tenant.id, name))
    if (bucket === undefined) throw new ScopeUnknown(`The backup has no bucket "${name}" any more`)
    const tenant = this.#tenant(state.get(tenantKeys.tenant(to.tenantId)), to.tenantId)
    const signal = this.#signal
    const about = { rate: operation.maxBytesPerSecond, check: () => this.#check(operation), signal }
    const pace = (bytes: number): Promise<void> => this.#pace.rest(bytes, about)
    const sealed = { sharesIds: this.#sharesIds(source, tenant), state, blobs: cluster.blobs, uploads }
    return { source, bucket, tenant, content, sealed, signal, pace }
  }

  /** The tenant has the dedup key of the backup. */
  #sharesIds({ bodies }: OpenedSource, tenant: TenantRecord): boolean {
    const probe = Buffer.from('holdfast')
    return bodies.idOf(probe) === keysOf(tenant, this.#parts.masterKey).present.keys.chunkIdOf(probe)
  }

  #tenant(tenant: TenantRecord | undefined, id: string): TenantRecord {
    if (tenant !== undefined && tenant.dataKey.length > 0) return tenant
    throw new ScopeUnknown(`Tenant "${id}" was deleted while it was restored into`)
  }

  #destination({ restore: { to } }: Restore, name: string): BucketRecord {
    const bucket = this.#parts.state.get(bucketKeys.bucket(to.tenantId, to.bucket ?? name))
    if (bucket !== undefined) return bucket
    throw new ScopeUnknown(`Bucket "${to.bucket ?? name}" was deleted while it was restored into`)
  }

  /** Throws Abandoned. */
  #check({ operationId, cursor }: Restore): void {
    if (!this.#parts.cluster.isJobRunner() || this.#isElsewhere(operationId, cursor)) throw new Abandoned()
  }
}

const PHASES: Readonly<Record<RestorePlace['step'], string>> = {
  begin: 'reading the backup',
  bucket: 'making buckets',
  versions: 'restoring versions',
  parts: 'restoring parts of a large object',
  check: 'comparing with the backup',
  settings: 'restoring settings',
  end: 'ending',
}

function isWorkable(operation: LongOperation): operation is Restore {
  return (
    operation.kind === 'backupRestore' && (operation.status === 'queued' || operation.status === 'running')
  )
}
