/**
 * What the rows say of a version that a rule may act on.
 *
 * Owns: which neighbours are read. Rule: bounded: of a key with many versions at most as many are read as rules can keep.
 */
import type { View } from '../base/view.ts'
import { assert } from '../base/assert.ts'
import type { BucketId } from '../base/record-ids.ts'
import type { VersionRecord } from '../versions/records.ts'
import { versionAt } from '../versions/versions.ts'
import type { LifecycleSubject } from './due.ts'

/** How many newer noncurrent objects a version has, counted up to `most`, by versions that were counted before. */
export class NewerObjects {
  readonly #view: View
  readonly #bucket: BucketId
  readonly #most: number
  /** Of the version seen last and of the one above it: itself and the newer ones. The first of them may be gone since. */
  #counted: readonly { readonly version: VersionRecord; readonly count: number }[] = []

  constructor(view: View, bucket: BucketId, most: number) {
    this.#view = view
    this.#bucket = bucket
    this.#most = most
  }

  /** Cheap for versions of a key that come one behind the other, newest first. */
  subject(version: VersionRecord): Extract<LifecycleSubject, { kind: 'noncurrent' }> {
    const newer = this.#newerOf(version)
    const newerObjects = this.#countFrom(newer)
    const count = Math.min(this.#most, newerObjects + Number(version.kind === 'object'))
    this.#counted = [
      { version, count },
      { version: newer, count: newerObjects },
    ]
    return { kind: 'noncurrent', version, since: newer.lastModified, newerObjects }
  }

  /** Noncurrent objects from `version` on upwards, itself included. */
  #countFrom(version: VersionRecord): number {
    let count = 0
    let at = version
    while (at.newer !== null && count < this.#most) {
      const known = this.#known(at.key, at.versionId)
      if (known !== undefined) return Math.min(this.#most, count + known.count)
      if (at.kind === 'object') count++
      at = this.#newerOf(at)
    }
    return count
  }

  #newerOf({ key, newer }: VersionRecord): VersionRecord {
    assert(newer !== null, 'a noncurrent version has a newer one')
    const found = this.#known(key, newer)?.version ?? versionAt(this.#view, this.#bucket, key, newer)
    assert(found !== undefined, 'a version that a neighbour names exists')
    return found
  }

  #known(key: string, versionId: string) {
    return this.#counted.find(({ version }) => version.versionId === versionId && version.key === key)
  }
}

export function subjectOf(version: VersionRecord, newer: NewerObjects): LifecycleSubject {
  if (version.newer !== null) return newer.subject(version)
  if (version.kind === 'object') return { kind: 'current', version }
  return { kind: 'marker', version, isLone: version.older === null }
}
