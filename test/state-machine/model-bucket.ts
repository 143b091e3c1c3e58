/**
 * A bucket as users see it: for each key a list of versions, newest first, and unfinished uploads.
 *
 * Owns: the effect of each command on the lists, and its refusals. Knows nothing of: rows, links, bodies, quotas.
 */
import assert from 'node:assert/strict'
import type { Command } from '../../src/state-machine/commands.ts'
import type { Deleted, NewVersion } from '../../src/state-machine/objects/commands.ts'
import type { LifecycleRule } from '../../src/state-machine/lifecycle/records.ts'
import type { RetentionRecord } from '../../src/state-machine/versions/records.ts'

export type Of<T extends Command['type']> = Extract<Command, { type: T }>

export interface ModelVersion {
  readonly id: string
  readonly isNull: boolean
  readonly isMarker: boolean
  readonly size: number
  readonly etag: string
  /** The pieces of its body, in order. */
  readonly content: readonly string[]
  /** When it was made. */
  readonly at: number
  tags: Readonly<Record<string, string>>
  retention: RetentionRecord | null
  legalHold: boolean
}

export interface ModelPart {
  readonly etag: string
  readonly size: number
  readonly content: readonly string[]
}

interface ModelUpload {
  readonly key: string
  readonly requested: Of<'createUpload'>
  readonly createdAt: number
  readonly expiresAt: number
  readonly parts: Map<number, ModelPart>
}

export interface ModelBucket {
  readonly id: string
  versioning: 'Unversioned' | 'Enabled' | 'Suspended'
  hasLock: boolean
  defaultRetention: Of<'setBucketObjectLock'>['defaultRetention']
  /** null: none. Steps set one rule. */
  lifecycle: LifecycleRule | null
  /** Newest first. */
  readonly keys: Map<string, ModelVersion[]>
  readonly uploads: Map<string, ModelUpload>
  readonly answers: Map<
    string,
    { readonly fingerprint: string; readonly id: string; readonly expiresAt: number }
  >
  readonly completed: Map<string, { readonly parts: string; readonly id: string; readonly expiresAt: number }>
}

export function contentOf(body: Of<'putObject'>['body']): readonly string[] {
  if (body.kind === 'empty') return []
  return body.kind === 'inline' ? [`inline ${body.sealed[0]}`] : body.chunks.map(({ id }) => id)
}

export function allVersions({ keys }: ModelBucket): readonly ModelVersion[] {
  return [...keys.values()].flat()
}

export function objectCount({ keys }: ModelBucket): number {
  return [...keys.values()].filter(([newest]) => newest?.isMarker === false).length
}

export function logicalBytes(bucket: ModelBucket): number {
  return allVersions(bucket).reduce((sum, { size }) => sum + size, 0)
}

export function uploadBytes({ uploads }: ModelBucket): number {
  const parts = [...uploads.values()].flatMap((upload) => [...upload.parts.values()])
  return parts.reduce((sum, { size }) => sum + size, 0)
}

/** Written differently from the code on purpose: a lock holds unless it is known to have ended; a damaged one always holds. */
export function isLocked(
  { retention, legalHold, isMarker }: ModelVersion,
  time: number,
  bypass?: true,
): boolean {
  if (isMarker) return false
  const end = bypass && retention?.mode === 'GOVERNANCE' ? Infinity : time
  const isOver =
    retention === null ||
    (['GOVERNANCE', 'COMPLIANCE'].includes(retention.mode) && retention.until >= 0 && retention.until <= end)
  return legalHold !== false || !isOver
}

export function uploadOf(bucket: ModelBucket, { key, uploadId }: { key: string; uploadId: string }) {
  const upload = bucket.uploads.get(uploadId)
  return upload?.key === key ? upload : undefined
}

export function newestObject(bucket: ModelBucket, key: string): ModelVersion | undefined {
  const newest = bucket.keys.get(key)?.[0]
  return newest?.isMarker === false ? newest : undefined
}

export function replacedIn({ versioning, keys }: ModelBucket, key: string): ModelVersion | undefined {
  return versioning === 'Enabled' ? undefined : keys.get(key)?.find(({ isNull }) => isNull)
}

export function named(bucket: ModelBucket, key: string, versionId: string): ModelVersion | undefined {
  return bucket.keys
    .get(key)
    ?.find(({ id, isNull }) => (versionId === 'null' ? isNull : !isNull && id === versionId))
}

interface Named {
  readonly key: string
  readonly versionId: string | null
}

export function settable(bucket: ModelBucket, { key, versionId }: Named): ModelVersion | undefined {
  const found = versionId === null ? newestObject(bucket, key) : named(bucket, key, versionId)
  return found?.isMarker === false ? found : undefined
}

export function preconditionCode(
  object: ModelVersion | undefined,
  { ifMatch, ifNoneMatch }: NewVersion['precondition'],
): string | null {
  const etag = object?.etag
  const has = (tags: readonly string[]) => etag !== undefined && (tags.includes('*') || tags.includes(etag))
  if (ifMatch !== null && !has(ifMatch)) return 'precondition_failed'
  return ifNoneMatch !== null && has(ifNoneMatch) ? 'precondition_failed' : null
}

export function settingsCode(
  bucket: ModelBucket,
  { retention, legalHold }: Pick<NewVersion, 'retention' | 'legalHold'>,
  time: number,
): string | null {
  if (retention === null && !legalHold) return null
  if (!bucket.hasLock) return 'object_lock_not_enabled'
  return retention !== null && retention.until <= time ? 'invalid_request' : null
}

export function lockCode(
  bucket: ModelBucket,
  command: Of<'setObjectLegalHold'> | Of<'setObjectRetention'>,
  time: number,
): string | null {
  const version = settable(bucket, command)
  if (version === undefined) return 'not_found'
  if (!bucket.hasLock) return 'object_lock_not_enabled'
  if (command.type === 'setObjectLegalHold') return null
  const [old, now] = [version.retention, command.retention]
  const isRepeated = now === null ? old === null : old?.mode === now.mode && old.until === now.until
  if (isRepeated) return null
  if (now !== null && now.until <= time) return 'invalid_request'
  if (!isLocked({ ...version, legalHold: false }, time, command.bypassGovernance)) return null
  if (now === null || isLocked({ ...version, legalHold: false }, Infinity)) return 'object_locked'
  const isWeaker = old?.mode === 'COMPLIANCE' && now.mode !== 'COMPLIANCE'
  return isWeaker || !((old?.until ?? Infinity) <= now.until) ? 'object_locked' : null
}

/** Removes the version that `versionId` names; without one, the version that a new one replaces. */
export function deleteCode(
  bucket: ModelBucket,
  { key, versionId, ifMatch }: Named & { readonly ifMatch?: readonly string[] | null },
  time: number,
  bypass?: true,
): string | null {
  const meant = settable(bucket, { key, versionId })
  const unmet = preconditionCode(meant, { ifMatch: ifMatch ?? null, ifNoneMatch: null })
  if (unmet !== null) return unmet
  const goes = versionId === null ? replacedIn(bucket, key) : named(bucket, key, versionId)
  return goes !== undefined && isLocked(goes, time, bypass) ? 'object_locked' : null
}

export function takeDeleted(
  bucket: ModelBucket,
  { key, versionId }: Named,
  reply: Deleted,
  madeAt: number,
): void {
  const isMade = versionId === null && bucket.versioning !== 'Unversioned'
  const goes = versionId === null ? replacedIn(bucket, key) : named(bucket, key, versionId)
  const existed = isMade ? newestObject(bucket, key) !== undefined : goes !== undefined
  assert.equal(reply.existed, existed)
  assert.equal(reply.isMade, isMade)
  dropFrom(bucket, key, goes)
  if (!isMade) return assert.equal(reply.version?.versionId, goes?.id)
  assert(reply.version?.kind === 'deleteMarker')
  const empty = { size: 0, etag: '', content: [], tags: {}, retention: null, legalHold: false }
  const isNull = bucket.versioning === 'Suspended'
  insert(bucket, key, { id: reply.version.versionId, isNull, isMarker: true, at: madeAt, ...empty })
}

export function addVersion(
  bucket: ModelBucket,
  { key, tags, retention, legalHold }: NewVersion,
  { id, size, etag, content }: Pick<ModelVersion, 'id' | 'size' | 'etag' | 'content'>,
  madeAt: number,
): void {
  dropFrom(bucket, key, replacedIn(bucket, key))
  const isNull = bucket.versioning !== 'Enabled'
  const locks = { retention: retention ?? defaultOf(bucket, madeAt), legalHold }
  insert(bucket, key, { id, isNull, isMarker: false, at: madeAt, size, etag, content, tags, ...locks })
}

function defaultOf({ defaultRetention }: ModelBucket, madeAt: number): RetentionRecord | null {
  if (defaultRetention === null) return null
  const hours = 24 * ('days' in defaultRetention ? defaultRetention.days : 365 * defaultRetention.years)
  return { mode: defaultRetention.mode, until: madeAt + hours * 3_600_000 }
}

export function insert({ keys }: ModelBucket, key: string, version: ModelVersion): void {
  keys.set(key, [version, ...(keys.get(key) ?? [])])
}

export function dropFrom({ keys }: ModelBucket, key: string, version: ModelVersion | undefined): void {
  const left = (keys.get(key) ?? []).filter((one) => one !== version)
  if (left.length === 0) keys.delete(key)
  else keys.set(key, left)
}
