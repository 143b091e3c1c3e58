/** One version of a key, and the rows that must belong to the same moment as it. */
import type { View } from '../../state-machine/base/view.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import type { VersionRecord } from '../../state-machine/versions/records.ts'
import { findVersion, newestVersion } from '../../state-machine/versions/versions.ts'
import type { StateReader } from './state-reader.ts'

/** What else is read in the cut that a version is found in. */
export type InCut = (view: View, bucket: BucketRecord, version: VersionRecord) => void

export interface VersionName {
  readonly key: string
  /** The id that clients use, `null` too; a text that is no id names no version. JavaScript's null: the newest version. */
  readonly versionId: string | null
}

/** An object or a delete marker; undefined when there is no such version. */
export function lookUpVersion(
  state: StateReader,
  bucket: BucketRecord,
  { key, versionId }: VersionName,
  inCut: InCut = () => {},
): VersionRecord | undefined {
  return state.cut((view) => {
    const version =
      versionId === null ? newestVersion(view, bucket.id, key) : findVersion(view, bucket.id, key, versionId)
    if (version !== undefined) inCut(view, bucket, version)
    return version
  })
}
