/**
 * Steps on versions, locks, copies, uploads and quotas, and their commands.
 *
 * Owns: the frequencies and the choices. Rule: a step chooses by small numbers among the items that exist when it runs, so
 * that a failing history shrinks to one that is still meaningful.
 */
import { birthOf } from '../../src/state-machine/chunks/births.ts'
import type { DiscardedBodyRecord, DiscardRecord } from '../../src/state-machine/bodies/records.ts'
import type { PutBody } from '../../src/state-machine/chunks/commands.ts'
import type { ChunkRecord } from '../../src/state-machine/chunks/records.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import type { GovernanceBypass, NewVersion } from '../../src/state-machine/objects/commands.ts'
import type { LifecycleRule } from '../../src/state-machine/lifecycle/records.ts'
import type { ExpiryRecord } from '../../src/state-machine/objects/records.ts'
import { EXCHANGE_WEIGHTS, exchangeCommand, sealedBody, sealedUse, sealingVersion } from './exchange-steps.ts'
import { createBucket, fresh, type MapWorld, partsOf, rowsOf } from './map-world.ts'
import type { ModelVersion } from './model-bucket.ts'
import { fingerprintOf } from './upload-commands.ts'
import type { VersionsModel } from './versions-model.ts'

/** How often each step occurs. */
export const STEP_WEIGHTS = {
  putObject: 9,
  deleteObject: 5,
  deleteObjects: 2,
  copyObject: 5,
  setObjectTags: 1,
  setObjectRetention: 5,
  setObjectLegalHold: 2,
  createUpload: 3,
  putPart: 6,
  completeUpload: 6,
  abortUpload: 1,
  expire: 1,
  releaseDiscarded: 2,
  releaseDue: 2,
  collectChunks: 1,
  setBucketVersioning: 2,
  setQuota: 1,
  setBucketLifecycle: 2,
  applyLifecycleRule: 4,
  createBucket: 1,
  deleteBucket: 1,
  ...EXCHANGE_WEIGHTS,
  /** Time passes. */
  pass: 2,
  /** Puts an unreadable lock in a row. */
  damage: 1,
} as const

export interface Step {
  readonly op: keyof typeof STEP_WEIGHTS
  readonly bucket: string
  readonly key: string
  readonly pick: number
  readonly body: number
  readonly more: number
}

/** The state from which a step chooses. */
export type Known = Pick<MapWorld, 'rows' | 'time' | 'index'>

const HOUR_MS = 3_600_000
const PART_BYTES = 5 * 1024 ** 2
const BODIES: readonly (readonly string[])[] = [
  ['c1'],
  ['c1', 'c2', 'c1'],
  Array.from({ length: 18 }, (_, n) => `c${n % 3}`),
  ['big1'],
  ['big2', 'c1'],
  ['big1', ...Array.from({ length: 18 }, (_, n) => `c${n % 3}`)],
  ['big1', 'big2'],
]
const NO_CONDITION = { ifMatch: null, ifNoneMatch: null }

/** Null: the step has no command. */
export function commandOf(step: Step, world: Known, model: VersionsModel, n: number): Command | null {
  const { op, bucket, key, pick, more } = step
  const name = { tenantId: 'acme', bucket: bucket as string, key }
  const versionId = idOf(model.buckets.get(bucket)?.keys.get(key) ?? [], pick)
  switch (op) {
    case 'putObject': {
      const fingerprint = `f${step.body % 2}`
      const idempotency = more % 4 === 0 ? { key: `i${more % 3}`, fingerprint } : null
      return { ...newVersion(step, world), type: op, ...brought(step, world, n), idempotency }
    }
    case 'deleteObject':
      return {
        type: op,
        ...name,
        versionId,
        ifMatch: more < 56 ? null : [`e${step.body}`],
        ...bypassOf(more),
      }
    case 'deleteObjects': {
      const other = { key: 'b/c', versionId: null, ...(more % 9 === 4 ? { ifMatch: [`e${step.body}`] } : {}) }
      return {
        type: op,
        tenantId: 'acme',
        bucket,
        ...bypassOf(more),
        items: [{ key, versionId }, other, { key, versionId: null }],
      }
    }
    case 'copyObject': {
      const source = { bucket: ['plain', 'kept', 'locked'][more % 3] ?? '', key: more % 2 === 0 ? key : 'a' }
      const versions = model.buckets.get(source.bucket)?.keys.get(source.key) ?? []
      const id = versions[pick % 3]?.id ?? 'Z'.repeat(26)
      return { ...newVersion(step, world), type: op, source: { ...source, versionId: id } }
    }
    case 'setObjectTags':
      return { type: op, ...name, versionId, tags: { n: String(more) } }
    case 'setObjectRetention': {
      if (more % 8 !== 0) name.bucket = 'locked'
      const retention = retentionOf(more, world)
      return {
        type: op,
        ...name,
        versionId: idOf(model.buckets.get(name.bucket)?.keys.get(key) ?? [], pick),
        retention: more % 11 === 5 ? null : (retention ?? { mode: 'GOVERNANCE', until: world.time - 1 }),
        ...bypassOf(more),
      }
    }
    case 'setObjectLegalHold':
      return { type: op, ...name, versionId, legalHold: more % 2 === 0 }
    case 'createUpload': {
      const { precondition: _none, ...requested } = newVersion(step, world)
      return { ...requested, type: op, initiator: 'key', expiresInMs: 7 * 24 * HOUR_MS, checksumAlg: null }
    }
    case 'expire': {
      const items = rowsOf<ExpiryRecord>(world, 'expiry').map(({ at, id }) => ({ at, id }))
      return { type: op, items: [...items, { at: 0, id: 'none' }] }
    }
    case 'releaseDiscarded':
      return releaseOne(world, pick)
    case 'releaseDue': {
      const rows = rowsOf<DiscardedBodyRecord>(world, 'discarded')
      const items = rows.map(({ discardedAt, id }) => ({ discardedAt, id }))
      const upTo = (items[pick % Math.max(1, items.length)]?.discardedAt ?? 1) - (more % 2)
      return { type: op, upTo, items: [...items, { discardedAt: 0, id: 'none' }].slice(0, 256) }
    }
    case 'collectChunks': {
      const chunks = rowsOf<ChunkRecord>(world, 'chunk').map(({ id: chunkId, birth, condemnedAt }) => ({
        tenantId: 'acme',
        chunkId,
        birth,
        condemnedAt: condemnedAt ?? 0,
      }))
      return chunks.length === 0 ? null : { type: op, chunks }
    }
    case 'setQuota': {
      const maxBytes = [null, null, 60, 2 * PART_BYTES][more % 4] ?? null
      const maxObjects = more % 8 === 0 ? 3 : null
      // The model counts no metadata; metadata-model.ts does.
      const maxMetadataBytes = Number.MAX_SAFE_INTEGER
      return { type: op, tenantId: 'acme', maxBytes, maxObjects, maxBuckets: null, maxMetadataBytes }
    }
    case 'setBucketLifecycle':
      return more % 9 === 8
        ? { type: 'deleteBucketLifecycle', tenantId: 'acme', name: bucket }
        : { type: op, tenantId: 'acme', name: bucket, rules: [ruleOf(step)] }
    case 'applyLifecycleRule': {
      const held = model.buckets.get(bucket)
      const versions = held?.keys.get(key) ?? []
      const uploads = [...(held?.uploads ?? [])].slice(0, 9)
      const items = [
        ...versions.slice(0, 99).map(({ id }) => ({ key, versionId: id })),
        ...uploads.map(([uploadId, upload]) => ({ key: upload.key, uploadId })),
        { key, versionId: 'Z'.repeat(26) },
      ]
      const ruleId = more % 8 === 7 ? 'other' : (held?.lifecycle?.id ?? 'r0')
      return { type: op, tenantId: 'acme', bucket, bucketId: held?.id ?? 'none', ruleId, items }
    }
    case 'exchangeTenantKey':
    case 'resealBodies':
    case 'endKeyExchange':
      return exchangeCommand(op, world, { more, n })
    default:
      return uploadCommand(step, world, model, n) ?? bucketCommand(step)
  }
}

/** It does something, and asks nothing that contradicts itself. */
function ruleOf({ bucket, more, body, pick }: Step): LifecycleRule {
  const isTagged = pick === 0
  const sizeGreaterThan = pick === 1 ? 8 : null
  const isPlain = !isTagged && sizeGreaterThan === null
  const expirations = [
    bucket === 'plain' ? { date: 0 } : null,
    { days: 1 },
    { date: 0 },
    isPlain ? { expiredDeleteMarker: true as const } : null,
  ]
  const noncurrents = [null, { days: 1, newerKept: 0 }, { days: 1, newerKept: 2 }]
  const noncurrent = noncurrents[(more >> 2) % 3] ?? null
  const expiration = expirations[more % 4] ?? (noncurrent === null ? { date: 0 } : null)
  const prefix = body === 3 ? 'b/' : ''
  return {
    id: `r${more % 2}`,
    isEnabled: pick !== 2,
    filter: { prefix, tags: isTagged ? { at: 'birth' } : {}, sizeGreaterThan, sizeLessThan: null },
    expiration,
    noncurrent,
    abortUploadDays: isPlain && more > 31 ? 1 : null,
  }
}

function bypassOf(more: number): GovernanceBypass {
  return more % 5 === 2 ? { bypassGovernance: true } : {}
}

const DEFAULTS = [
  { mode: 'GOVERNANCE', days: 1 },
  { mode: 'COMPLIANCE', days: 2 },
  null,
  { mode: 'GOVERNANCE', years: 1 },
] as const

function bucketCommand({ op, bucket, more, pick }: Step): Command | null {
  const versioning = (['Enabled', 'Suspended', 'Enabled', 'Suspended', 'Unversioned'] as const)[more % 5]
  const settings = versioningOf(bucket)
  if (op === 'createBucket') return createBucket(bucket, settings)
  if (op === 'deleteBucket') return { type: op, tenantId: 'acme', name: bucket }
  if (op !== 'setBucketVersioning' || versioning === undefined) return null
  if (pick < 3) {
    const defaultRetention = DEFAULTS[more % 4] ?? null
    return { type: 'setBucketObjectLock', tenantId: 'acme', name: bucket, defaultRetention }
  }
  return { type: op, tenantId: 'acme', name: bucket, versioning }
}

export function versioningOf(bucket: string) {
  const versioning = bucket === 'plain' ? ('Unversioned' as const) : ('Enabled' as const)
  return { versioning, objectLockEnabled: bucket === 'locked' }
}

function uploadCommand(step: Step, world: Known, model: VersionsModel, n: number): Command | null {
  const { op, bucket, pick, more } = step
  const held = model.buckets.get(bucket)
  const uploads = [...(held?.uploads ?? [])]
  const [uploadId, upload] = uploads[pick % Math.max(1, uploads.length)] ?? ['mpu_none', undefined]
  const name = { tenantId: 'acme', bucket, key: upload?.key ?? step.key, uploadId }
  if (op === 'putPart') {
    // Mostly large enough that another part may follow.
    const part = step.body < 4 && more % 4 !== 0 ? { ...step, body: step.body + 5 } : step
    return { type: op, ...name, partNumber: 1 + (more % 3), ...brought(part, world, n) }
  }
  if (op === 'abortUpload') return { type: op, ...name }
  if (op !== 'completeUpload') return null
  const precondition = conditionOf(more, step.body)
  const [kept] = [...(held?.completed ?? [])]
  if (kept !== undefined && more % 5 === 0) {
    const [at, { parts }] = kept
    const slash = at.lastIndexOf('/')
    const earlier = { key: at.slice(0, slash), uploadId: at.slice(slash + 1) }
    const parsed = more % 2 === 0 ? JSON.parse(parts) : []
    const again = {
      parts: parsed,
      fingerprint: fingerprintOf(parsed),
      etag: 'again',
      checksums: {},
      precondition,
    }
    return { type: op, ...name, ...earlier, ...again }
  }
  const listed = [...(upload?.parts ?? [])]
    .sort(([one], [other]) => one - other)
    .map(([partNumber, { etag }]) => ({ partNumber, etag: more === 1 ? 'other' : etag }))
  const parts = more % 8 === 2 ? listed.toReversed() : more % 8 === 3 ? listed.slice(1) : listed
  const fingerprint = fingerprintOf(parts)
  return { type: op, ...name, parts, fingerprint, etag: `e${step.body}`, checksums: {}, precondition }
}

function releaseOne(world: Known, pick: number): Command {
  const rows = rowsOf<DiscardRecord>(world, 'discard')
  const row = rows[pick % Math.max(1, rows.length)]
  if (row === undefined) return { type: 'releaseDiscarded', id: 'none', partNumbers: [] }
  const { id, bucketId } = row
  const parts = partsOf(world, bucketId, id)
  const partNumbers = parts.slice(0, pick % 3).map(({ partNumber }) => partNumber)
  return { type: 'releaseDiscarded', id, partNumbers: [...partNumbers, 9] }
}

/** 0 to 2: no version id; then `null`, one that does not exist, and the existing ones. */
function idOf(versions: readonly ModelVersion[], pick: number): string | null {
  if (pick < 3) return null
  if (pick === 3) return 'null'
  if (pick === 4) return 'Z'.repeat(26)
  return versions[(pick - 5) % Math.max(1, versions.length)]?.id ?? 'no id'
}

function retentionOf(more: number, { time }: Known): NewVersion['retention'] {
  const mode = more % 2 === 0 ? 'GOVERNANCE' : 'COMPLIANCE'
  const hours = [null, null, null, 2, 30, 300, -1, 2][(more >> 1) % 8] ?? null
  // Rounded up, so that equal dates occur.
  return hours === null ? null : { mode, until: (Math.ceil(time / HOUR_MS) + hours) * HOUR_MS }
}

function conditionOf(more: number, body: number): NewVersion['precondition'] {
  if (more % 16 === 5) return { ifMatch: [`e${body}`], ifNoneMatch: null }
  if (more % 16 === 7) return { ifMatch: null, ifNoneMatch: ['*'] }
  return more % 16 === 9 ? { ifMatch: ['*'], ifNoneMatch: [`e${body}`] } : NO_CONDITION
}

function newVersion({ bucket, key, body, more, pick }: Step, world: Known): NewVersion {
  const isLocking = bucket === 'locked' ? more % 3 === 0 : more === 63
  return {
    tenantId: 'acme',
    bucket,
    key,
    contentType: 'text/plain',
    metadata: {},
    masterKeyId: 'mk-1',
    precondition: conditionOf(more, body),
    tags: pick === 0 ? { at: 'birth' } : {},
    retention: isLocking ? retentionOf(more, world) : null,
    legalHold: isLocking && pick === 1,
  }
}

/** Every chunk is a fresh upload; a present row is kept. */
function brought(step: Step, world: Known, n: number) {
  const about = { etag: `e${step.body}`, checksums: {} }
  const version = sealingVersion(world, step.more)
  if (step.body === 0) return { ...about, size: 0, body: { kind: 'empty' } as PutBody }
  if (step.body === 1) {
    return { ...about, size: 7, body: sealedBody(step.more, version) }
  }
  const chunks = (BODIES[step.body - 2] ?? []).map((id, i) => {
    const birth = birthOf('birth', world.index * 1000 + n * 100 + i)
    return sealedUse(fresh(id, { birth, size: id.startsWith('big') ? PART_BYTES : 10 }), version)
  })
  const size = chunks.reduce((sum, chunk) => sum + chunk.size, 0)
  return { ...about, size, body: { kind: 'chunks', chunks, copiesMin: 2 } as PutBody }
}
