/**
 * The versions of one key, newest first.
 *
 * Owns: which row holds which version, their links, their share in the counts of the bucket. Knows nothing of: permission to
 * remove a version, bodies, buckets.
 * Rule: a version has an index row exactly while it carries a lock setting.
 * Layout: the newest version, if it is an object, is the object row, so that a listing of objects skips nothing. All
 * others are version rows. Each names its neighbours, so that any of them can be removed without reading the rest.
 */
import { versionKeys } from './keys.ts'
import type { View } from '../base/view.ts'
import { assert } from '../base/assert.ts'
import type { Draft } from '../base/draft.ts'
import { hasLockSetting } from './locks.ts'
import type { BucketId, VersionId } from '../base/record-ids.ts'
import type { ChainRecord, ObjectRecord, VersionRecord, VersionSettings } from './records.ts'
import { isVersionId } from '../base/version-id.ts'

/** The version id that clients see for the version of a bucket without versioning, regardless of its own id. */
export const NULL_VERSION = 'null'

const NO_CHAIN: ChainRecord = { marker: null, nullVersion: null }

/** The newest version; undefined if it is a delete marker or there is none. */
export function currentObject(view: View, bucket: BucketId, key: string): ObjectRecord | undefined {
  return view.get(versionKeys.object(bucket, key))
}

/** By the id that clients use. */
export function findVersion(
  view: View,
  bucket: BucketId,
  key: string,
  versionId: string,
): VersionRecord | undefined {
  const current = currentObject(view, bucket, key)
  if (versionId === NULL_VERSION) {
    if (current?.isNull === true) return current
    const id = view.get(versionKeys.chain(bucket, key))?.nullVersion ?? null
    return id === null ? undefined : view.get(versionKeys.version(bucket, key, id))
  }
  if (!isVersionId(versionId)) return undefined
  const found =
    current?.versionId === versionId ? current : view.get(versionKeys.version(bucket, key, versionId))
  return found?.isNull === true ? undefined : found
}

/** Finds a version by its own id, not by the id that clients use. */
export function versionAt(
  view: View,
  bucket: BucketId,
  key: string,
  id: VersionId,
): VersionRecord | undefined {
  const current = currentObject(view, bucket, key)
  return current?.versionId === id ? current : view.get(versionKeys.version(bucket, key, id))
}

/** The newest version of a key: an object, a delete marker, or undefined. */
export function newestVersion(view: View, bucket: BucketId, key: string): VersionRecord | undefined {
  const current = currentObject(view, bucket, key)
  if (current !== undefined) return current
  const marker = view.get(versionKeys.chain(bucket, key))?.marker ?? null
  return marker === null ? undefined : view.get(versionKeys.version(bucket, key, marker))
}

/** Changes of the counts of a bucket. */
export interface VersionCounts {
  readonly objects: number
  readonly versions: number
  readonly deleteMarkers: number
  readonly bytes: number
  readonly metadataBytes: number
}

export class VersionChain {
  readonly #draft: Draft
  readonly #bucket: BucketId
  readonly #key: string
  readonly #change = { objects: 0, versions: 0, deleteMarkers: 0, bytes: 0, metadataBytes: 0 }

  constructor(draft: Draft, bucket: BucketId, key: string) {
    this.#draft = draft
    this.#bucket = bucket
    this.#key = key
  }

  /** The sum of all changes so far. */
  get change(): VersionCounts {
    return this.#change
  }

  get newest(): VersionRecord | undefined {
    return newestVersion(this.#draft, this.#bucket, this.#key)
  }

  find(versionId: string): VersionRecord | undefined {
    return findVersion(this.#draft, this.#bucket, this.#key, versionId)
  }

  /** Makes `version` the newest one and sets its links. Ids ascend, so the order of rows is the order of pushes. */
  push<V extends VersionRecord>(version: V): V {
    const before = this.newest
    assert(before === undefined || before.versionId < version.versionId, 'version ids ascend')
    assert(!version.isNull || this.find(NULL_VERSION) === undefined, 'a key has one null version')
    if (before?.kind === 'object') this.#draft.remove(versionKeys.object(this.#bucket, this.#key))
    if (before !== undefined) this.#putBelow({ ...before, newer: version.versionId })
    const newest = { ...version, older: before?.versionId ?? null, newer: null }
    this.#putNewest(newest)
    if (hasLockSetting(newest)) this.#putLocked(newest)
    this.#count(version, 1)
    this.#change.objects += Number(version.kind === 'object') - Number(before?.kind === 'object')
    return newest
  }

  /** Removes a version; if it was the newest, the next older one becomes the newest. */
  remove(version: VersionRecord): void {
    const { older: olderId, newer: newerId } = version
    if (version.isNull) this.#setChain({ nullVersion: null })
    if (hasLockSetting(version)) this.#draft.remove(this.#lockedRowOf(version.versionId))
    if (newerId === null) {
      if (version.kind === 'object') this.#draft.remove(versionKeys.object(this.#bucket, this.#key))
      else this.#draft.remove(this.#rowOf(version.versionId))
      this.#setChain({ marker: null })
      const older = olderId === null ? undefined : this.#below(olderId)
      if (older !== undefined) this.#promote(older)
      this.#change.objects += Number(older?.kind === 'object') - Number(version.kind === 'object')
    } else {
      this.#draft.remove(this.#rowOf(version.versionId))
      const newer = this.#at(newerId)
      this.#replace({ ...newer, older: olderId })
      if (olderId !== null) this.#draft.put(this.#rowOf(olderId), { ...this.#below(olderId), newer: newerId })
    }
    this.#count(version, -1)
  }

  /** Changes the settings of a version. */
  adjust(
    version: ObjectRecord,
    settings: Partial<VersionSettings> & Pick<ObjectRecord, 'metadataBytes'>,
  ): ObjectRecord {
    const changed = { ...version, ...settings }
    this.#change.metadataBytes += (changed.metadataBytes ?? 0) - (version.metadataBytes ?? 0)
    this.#replace(changed)
    if (hasLockSetting(changed)) this.#putLocked(changed)
    else if (hasLockSetting(version)) this.#draft.remove(this.#lockedRowOf(version.versionId))
    return changed
  }

  /** Rewrites a version with other settings or links. */
  #replace(version: VersionRecord): void {
    if (version.newer === null && version.kind === 'object')
      this.#draft.put(versionKeys.object(this.#bucket, this.#key), version)
    else this.#draft.put(this.#rowOf(version.versionId), version)
  }

  #promote(older: VersionRecord): void {
    this.#draft.remove(this.#rowOf(older.versionId))
    if (older.isNull) this.#setChain({ nullVersion: null })
    this.#putNewest({ ...older, newer: null })
  }

  #putNewest(version: VersionRecord): void {
    this.#replace(version)
    if (version.kind === 'object') this.#setChain({ marker: null })
    else
      this.#setChain({
        marker: version.versionId,
        ...(version.isNull ? { nullVersion: version.versionId } : {}),
      })
  }

  #putBelow(version: VersionRecord): void {
    this.#draft.put(this.#rowOf(version.versionId), version)
    if (version.isNull) this.#setChain({ nullVersion: version.versionId })
  }

  #at(versionId: VersionId): VersionRecord {
    const version = versionAt(this.#draft, this.#bucket, this.#key, versionId)
    assert(version !== undefined, 'a version that a neighbour names exists')
    return version
  }

  #below(versionId: VersionId): VersionRecord {
    const version = this.#draft.get(this.#rowOf(versionId))
    assert(version !== undefined, 'a version that a neighbour names exists')
    return version
  }

  #putLocked({ key, versionId }: VersionRecord): void {
    this.#draft.put(this.#lockedRowOf(versionId), { key, versionId })
  }

  #lockedRowOf(versionId: VersionId) {
    return versionKeys.lockedVersion(this.#bucket, this.#key, versionId)
  }

  #rowOf(versionId: VersionId) {
    return versionKeys.version(this.#bucket, this.#key, versionId)
  }

  #setChain(part: Partial<ChainRecord>): void {
    const key = versionKeys.chain(this.#bucket, this.#key)
    const present = this.#draft.get(key)
    const chain = { ...(present ?? NO_CHAIN), ...part }
    if (chain.marker !== null || chain.nullVersion !== null) this.#draft.put(key, chain)
    else if (present !== undefined) this.#draft.remove(key)
  }

  #count(version: VersionRecord, sign: 1 | -1): void {
    this.#change.metadataBytes += sign * (version.metadataBytes ?? 0)
    if (version.kind === 'object') {
      this.#change.versions += sign
      this.#change.bytes += sign * version.size
    } else this.#change.deleteMarkers += sign
  }
}
