/**
 * The rotation of the master key.
 *
 * Owns: the master key that the cluster seals with, the keys that each node has, the replacement of sealed secrets. Knows nothing of:
 * the content of a sealed secret. Rules: the cluster moves to a key only when every node has announced it first; a sealed secret is
 * replaced only if it still equals the bytes that were opened and sealed again.
 */
import { tenantKeys } from '../tenants/keys.ts'
import { eventKeys } from '../events/keys.ts'
import { isKeyPart } from '../base/row-key.ts'
import { auditRowKeys } from '../audit/keys.ts'
import type { SiteCommand, SiteReplies, TenantSiteCommand, TenantSiteReplies } from '../sites/commands.ts'
import { siteKeys } from '../sites/keys.ts'
import type { MasterKeyCommand, MasterKeyReplies } from './commands.ts'
import type { Draft } from '../base/draft.ts'
import type { AuditKeysRecord } from '../audit/records.ts'
import type { SealedTenantKeys, TenantRecord } from '../tenants/records.ts'
import { AUDIT_OWNER } from '../base/record-ids.ts'
import { MASTER_KEYS_MAX, REWRAP_ITEMS_MAX } from './limits.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'

const HOLDERS_MAX = 256
const NO_KEY = new Uint8Array(0)
const FINGERPRINT = /^[0-9a-f]{64}$/

/** Records the master keys of a node; first the one that it wants to seal with. Idempotent. */
export function announceMasterKeys(
  draft: Draft,
  command: Extract<MasterKeyCommand, { type: 'announceMasterKeys' }>,
): Accepted<MasterKeyReplies['announceMasterKeys']> | Refused {
  const { nodeId, fingerprints } = command
  const row = draft.get(tenantKeys.clusterKey())
  if (row === undefined)
    return refuse('precondition_failed', 'Cannot announce master keys: the cluster has none yet')
  const isList = fingerprints.length >= 1 && fingerprints.length <= MASTER_KEYS_MAX
  if (!isKeyPart(nodeId) || !isList || !fingerprints.every((one) => FINGERPRINT.test(one))) {
    return refuse(
      'invalid_argument',
      `Cannot announce master keys: 1 to ${MASTER_KEYS_MAX} fingerprints are expected`,
    )
  }
  if (!fingerprints.includes(row.masterKeyFingerprint)) {
    return refuse(
      'precondition_failed',
      `Cannot announce master keys: "${nodeId}" does not have the key of the cluster`,
    )
  }
  const holders = { ...row.holders, [nodeId]: fingerprints }
  if (Object.keys(holders).length > HOLDERS_MAX) {
    return refuse(
      'precondition_failed',
      `Cannot announce master keys: more than ${HOLDERS_MAX} nodes have announced`,
    )
  }
  const announced = { ...row, holders }
  draft.put(tenantKeys.clusterKey(), announced)
  return accept(announced)
}

/** From this entry on every node seals with `to`. Idempotent. */
export function advanceClusterKey(
  draft: Draft,
  command: Extract<MasterKeyCommand, { type: 'advanceClusterKey' }>,
): Accepted<MasterKeyReplies['advanceClusterKey']> | Refused {
  const { from, to, nodes } = command
  const row = draft.get(tenantKeys.clusterKey())
  if (row?.masterKeyFingerprint === to) return accept(row)
  if (row === undefined || row.masterKeyFingerprint !== from) {
    return refuse(
      'precondition_failed',
      'Cannot advance the master key: the cluster now seals with another one',
    )
  }
  // First, not only anywhere in the list: two nodes that want different keys must not move the cluster back and forth.
  const missing = nodes.filter((node) => row.holders?.[node]?.[0] !== to)
  if (nodes.length === 0 || missing.length > 0) {
    const names = missing.join(', ')
    return refuse('precondition_failed', `Cannot advance the master key: not yet the first key of ${names}`)
  }
  const advanced = { ...row, masterKeyFingerprint: to }
  draft.put(tenantKeys.clusterKey(), advanced)
  return accept(advanced)
}

export function rewrapTenantKeys(
  draft: Draft,
  command: Extract<MasterKeyCommand, { type: 'rewrapTenantKeys' }>,
): Accepted<MasterKeyReplies['rewrapTenantKeys']> | Refused {
  const { items, masterKeyId } = command
  if (items.length > REWRAP_ITEMS_MAX) return tooMany(items.length)
  let rewrapped = 0
  for (const { tenantId, before, after } of items) {
    if (tenantId === AUDIT_OWNER) {
      rewrapped += rewrapAuditKeys(draft, before, after)
      continue
    }
    const tenant = draft.get(tenantKeys.tenant(tenantId))
    if (tenant === undefined) continue
    if (!areSame(tenant, before)) continue
    const { dataKey, dedupKey } = after
    const { formerKey } = tenant
    const former =
      formerKey === undefined
        ? {}
        : { formerKey: { ...formerKey, dataKey: after.formerDataKey ?? formerKey.dataKey } }
    draft.put(tenantKeys.tenant(tenantId), { ...tenant, dataKey, dedupKey, ...former, masterKeyId })
    rewrapped += 1
  }
  return accept({ rewrapped })
}

/** All keys of the tenant are those that were sealed again: an exchange may have started or ended meanwhile. */
function areSame(tenant: TenantRecord, before: SealedTenantKeys): boolean {
  const former = isSame(tenant.formerKey?.dataKey ?? NO_KEY, before.formerDataKey ?? NO_KEY)
  return former && isSame(tenant.dataKey, before.dataKey) && isSame(tenant.dedupKey, before.dedupKey)
}

function rewrapAuditKeys(draft: Draft, before: AuditKeysRecord, after: AuditKeysRecord): number {
  const present = draft.get(auditRowKeys.auditKeys())
  if (present === undefined) return 0
  if (!isSame(present.dataKey, before.dataKey) || !isSame(present.dedupKey, before.dedupKey)) return 0
  draft.put(auditRowKeys.auditKeys(), after)
  return 1
}

/** The secret itself and the version of the key do not change, so tokens stay valid. */
export function rewrapAccessKeys(
  draft: Draft,
  command: Extract<MasterKeyCommand, { type: 'rewrapAccessKeys' }>,
): Accepted<MasterKeyReplies['rewrapAccessKeys']> | Refused {
  const { items } = command
  if (items.length > REWRAP_ITEMS_MAX) return tooMany(items.length)
  let rewrapped = 0
  for (const { accessKeyId, before, after } of items) {
    const accessKey = draft.get(tenantKeys.accessKey(accessKeyId))
    if (accessKey === undefined || !isSame(accessKey.secret, before)) continue
    draft.put(tenantKeys.accessKey(accessKeyId), { ...accessKey, secret: after })
    rewrapped += 1
  }
  return accept({ rewrapped })
}

/** Skips removed hooks: they have no secret. */
export function rewrapHookSecrets(
  draft: Draft,
  command: Extract<MasterKeyCommand, { type: 'rewrapHookSecrets' }>,
): Accepted<MasterKeyReplies['rewrapHookSecrets']> | Refused {
  const { items } = command
  if (items.length > REWRAP_ITEMS_MAX) return tooMany(items.length)
  let rewrapped = 0
  for (const { bucketId, hookId, before, after } of items) {
    const key = eventKeys.hook(bucketId, hookId)
    const hook = draft.get(key)
    if (hook === undefined || hook.secret.length === 0 || !isSame(hook.secret, before)) continue
    draft.put(key, { ...hook, secret: after })
    rewrapped += 1
  }
  return accept({ rewrapped })
}

/** Of the targets of replication. */
export function rewrapSiteSecrets(
  draft: Draft,
  { items }: Extract<SiteCommand, { type: 'rewrapSiteSecrets' }>,
): Accepted<SiteReplies['rewrapSiteSecrets']> | Refused {
  if (items.length > REWRAP_ITEMS_MAX) return tooMany(items.length)
  let rewrapped = 0
  for (const { bucketId, before, after } of items) {
    const key = siteKeys.site(bucketId)
    const site = draft.get(key)
    if (site === undefined || !isSame(site.secret, before)) continue
    draft.put(key, { ...site, secret: after })
    rewrapped += 1
  }
  return accept({ rewrapped })
}

/** Of the targets of replication of whole tenants. */
export function rewrapTenantSiteSecrets(
  draft: Draft,
  { items }: Extract<TenantSiteCommand, { type: 'rewrapTenantSiteSecrets' }>,
): Accepted<TenantSiteReplies['rewrapTenantSiteSecrets']> | Refused {
  if (items.length > REWRAP_ITEMS_MAX) return tooMany(items.length)
  let rewrapped = 0
  for (const { tenantId, before, after } of items) {
    const key = siteKeys.tenantSite(tenantId)
    const site = draft.get(key)
    if (site === undefined || !isSame(site.secret, before)) continue
    draft.put(key, { ...site, secret: after })
    rewrapped += 1
  }
  return accept({ rewrapped })
}

function tooMany(count: number): Refused {
  return refuse(
    'invalid_argument',
    `Cannot rewrap: ${count} secrets are more than the ${REWRAP_ITEMS_MAX} of an entry`,
  )
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at])
}
