/**
 * The exchange of a tenant's data key: another key for new writes, rows that are sealed again, the end of the former key.
 * [docs/adr/0088-exchange-of-tenant-keys.md]
 *
 * Owns: the order of these steps. Knows nothing of: keys as bytes, how anything is sealed. Rules: a row is changed only if it still is what was
 * sealed again; the former key goes only in an entry that counts nothing under it; a tenant has one former key at most.
 */
import { bodyKeys } from '../bodies/keys.ts'
import { assert } from '../base/assert.ts'
import { tooMany } from '../base/batch-bound.ts'
import type { Draft } from '../base/draft.ts'
import type { TenantId } from '../base/record-ids.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'
import type { ApplyContext, View } from '../base/view.ts'
import { presentBucket } from '../buckets/find-bucket.ts'
import { resealChunk } from '../chunks/resealing.ts'
import { heldAfter } from '../long-operations/backups.ts'
import { longOperationKeys } from '../long-operations/keys.ts'
import {
  beginOperation,
  countTasks,
  isFinished,
  setOperationStatus,
  tooManyOperations,
  unfinishedOperations,
  workable,
} from '../long-operations/operations.ts'
import type { LongOperation } from '../long-operations/records.ts'
import {
  countSealed,
  dataKeyVersionOf,
  forgetSealed,
  keyVersionMember,
  keyVersionOf,
  sealedOf,
  withoutFormerKey,
} from '../tenants/data-keys.ts'
import { tenantKeys } from '../tenants/keys.ts'
import type { FormerKey, SealedRecord, TenantRecord } from '../tenants/records.ts'
import { tenantOf } from '../tenants/tenants.ts'
import { usageOf } from '../usage/usage.ts'
import type { KeyExchangeCommand, ResealedBody } from './commands.ts'

type Of<T extends KeyExchangeCommand['type']> = Extract<KeyExchangeCommand, { type: T }>

/** A tenant whose key is being exchanged. */
type Exchanging = TenantRecord & { readonly formerKey: FormerKey }

/** Idempotent by the id of the operation. */
export function exchangeTenantKey(
  draft: Draft,
  command: Of<'exchangeTenantKey'>,
  context: ApplyContext,
): Accepted<LongOperation> | Refused {
  const { tenantId, operationId, from, dataKey, masterKeyId } = command
  const present = draft.get(longOperationKeys.operation(operationId))
  if (present !== undefined) return accept(present)
  const found = tenantOf(draft, tenantId)
  if (!found.ok) return found
  const tenant = found.value
  const fault = exchangeFault(draft, tenant, from) ?? backupUnderWay(draft) ?? tooManyOperations(draft)
  if (fault !== null) return fault
  const { formerKey } = tenant
  if (formerKey !== undefined) {
    draft.put(tenantKeys.tenant(tenantId), { ...tenant, formerKey: { ...formerKey, operation: operationId } })
  } else {
    draft.put(tenantKeys.tenant(tenantId), {
      ...tenant,
      dataKey,
      masterKeyId,
      dataKeyVersion: from + 1,
      dataKeySince: context.time,
      formerKey: { version: from, dataKey: tenant.dataKey, operation: operationId },
    })
  }
  return accept(begin(draft, command, context))
}

function exchangeFault(view: View, tenant: TenantRecord, from: number): Refused | null {
  const cannot = `Cannot exchange the key of tenant "${tenant.id}"`
  if (tenant.status === 'deleting' || tenant.status === 'deleted')
    return refuse('precondition_failed', `${cannot}: it is ${tenant.status}, which destroys its keys`)
  const { formerKey } = tenant
  const running =
    formerKey === undefined ? undefined : view.get(longOperationKeys.operation(formerKey.operation))
  if (running !== undefined && !isFinished(running.status))
    return refuse('precondition_failed', `${cannot}: operation "${running.operationId}" still exchanges it`)
  if (dataKeyVersionOf(tenant) === from) return null
  return refuse('precondition_failed', `${cannot}: it was exchanged meanwhile; look at it and ask again`)
}

/** It replaces chunks that the cut of a backup names. */
function backupUnderWay(view: View): Refused | null {
  const backup = unfinishedOperations(view).find(({ kind }) => kind === 'backup')
  if (backup === undefined) return null
  return refuse(
    'precondition_failed',
    `Cannot exchange a key while backup "${backup.operationId}" is unfinished; wait for its end or cancel it`,
  )
}

function begin(
  draft: Draft,
  { tenantId, operationId, requestedBy, reason, maxBytesPerSecond }: Of<'exchangeTenantKey'>,
  context: ApplyContext,
): LongOperation {
  const asked = { operationId, kind: 'keyExchange', requestedBy, reason, maxBytesPerSecond } as const
  beginOperation(draft, { ...asked, tenantId, bucket: null, node: null }, context)
  const left = leftUnderFormer(draft, tenantId)
  countTasks(draft, operationId, { blobsTotal: left.chunks, bytesTotal: left.storedBytes + left.inlineBytes })
  const operation = draft.get(longOperationKeys.operation(operationId))
  assert(operation !== undefined, 'an operation that was started has a row')
  return operation
}

/** What is not sealed with the present key. Only of a tenant whose key is being exchanged. */
export function leftUnderFormer(view: View, tenantId: TenantId): SealedRecord {
  const {
    chunkCount,
    storedBytes,
    inlineBytes,
    customerChunks = 0,
    customerBytes = 0,
  } = usageOf(view, tenantId)
  const sealed = sealedOf(view, tenantId)
  return {
    chunks: chunkCount - customerChunks - sealed.chunks,
    storedBytes: storedBytes - customerBytes - sealed.storedBytes,
    inlineBytes: inlineBytes - sealed.inlineBytes,
  }
}

/** Each item is decided by itself; one that is not what it was any more is skipped. */
export function resealBodies(
  draft: Draft,
  command: Of<'resealBodies'>,
  context: ApplyContext,
): Accepted<{ readonly resealed: number }> | Refused {
  const { tenantId, operation, keyVersion, copiesMin, chunks, bodies } = command
  const fault = tooMany('reseal', chunks.length + bodies.length)
  if (fault !== null) return fault
  const found = exchanging(draft, { tenantId, operation }, 'reseal', context)
  if (!found.ok) return found
  const tenant = found.value
  if (keyVersion !== dataKeyVersionOf(tenant))
    return refuse(
      'precondition_failed',
      `Cannot reseal: version ${keyVersion} is not the present key of "${tenantId}"`,
    )
  const { version: former } = tenant.formerKey
  let [blobsDone, bytesMoved] = [0, 0]
  for (const chunk of chunks) {
    if (!resealChunk(draft, { tenantId, chunk, former, keyVersion, copiesMin }, context)) continue
    blobsDone += 1
    bytesMoved += chunk.sealedSize
  }
  let bodiesDone = 0
  for (const body of bodies) {
    if (!resealBody(draft, tenant, body)) continue
    bodiesDone += 1
    bytesMoved += body.sealed.length
  }
  const resealed = blobsDone + bodiesDone
  const skipped = chunks.length + bodies.length - resealed
  countTasks(draft, operation, { blobsDone, bytesMoved, skipped })
  return accept({ resealed })
}

/** The bytes of an inline body never change their length, because it is never compressed. */
function resealBody(
  draft: Draft,
  tenant: Exchanging,
  { bucket, bucketId, bodyId, sealed }: ResealedBody,
): boolean {
  const found = presentBucket(draft, tenant.id, bucket)
  if (!found.ok || found.value.id !== bucketId) return false
  const key = bodyKeys.inlineBody(bucketId, bodyId)
  const row = draft.get(key)
  if (row === undefined || keyVersionOf(row) !== tenant.formerKey.version) return false
  if (row.sealed.length !== sealed.length) return false
  const member = keyVersionMember(dataKeyVersionOf(tenant))
  draft.put(key, { sealed, ...member })
  countSealed(draft, tenant.id, { inlineBytes: sealed.length, ...member })
  return true
}

/** The former key is gone when this is applied, and the operation has succeeded. */
export function endKeyExchange(
  draft: Draft,
  command: Of<'endKeyExchange'>,
  context: ApplyContext,
): Accepted<TenantRecord> | Refused {
  const { tenantId, operation } = command
  const found = exchanging(draft, command, 'end the exchange', context)
  if (!found.ok) return found
  const left = leftUnderFormer(draft, tenantId)
  if (left.chunks !== 0 || left.inlineBytes !== 0)
    return refuse(
      'precondition_failed',
      `Cannot end the exchange: ${left.chunks} chunks and ${left.inlineBytes} bytes of small bodies are sealed with the former key`,
    )
  const tenant = withoutFormerKey(found.value)
  draft.put(tenantKeys.tenant(tenantId), tenant)
  forgetSealed(draft, tenantId)
  const finish = {
    type: 'setOperationStatus',
    operationId: operation,
    action: 'finish',
    error: null,
  } as const
  const finished = setOperationStatus(draft, finish, context)
  return finished.ok ? accept(tenant) : finished
}

/** A backup runs, and what it has named may not change. */
export function isHeld(view: View, confirmedTime: number): boolean {
  return heldAfter(unfinishedOperations(view), confirmedTime) !== Number.POSITIVE_INFINITY
}

/** The tenant, if this operation exchanges its key and may continue. */
function exchanging(
  view: View,
  { tenantId, operation }: { readonly tenantId: TenantId; readonly operation: string },
  what: string,
  { confirmedTime }: Pick<ApplyContext, 'confirmedTime'>,
): Accepted<Exchanging> | Refused {
  const running = workable(view, operation, what)
  if (!running.ok) return running
  if (isHeld(view, confirmedTime))
    return refuse(
      'precondition_failed',
      `Cannot ${what}: a backup needs the copies and keys that its cut names`,
    )
  const tenant = view.get(tenantKeys.tenant(tenantId))
  const { formerKey } = tenant ?? {}
  if (tenant !== undefined && formerKey?.operation === operation) return accept({ ...tenant, formerKey })
  return refuse(
    'precondition_failed',
    `Cannot ${what}: operation "${operation}" exchanges no key of "${tenantId}"`,
  )
}
