/**
 * The versions of one bucket of a backup, in two orders.
 *
 * Owns: how the rows of current objects and those of other versions come together. Knows nothing of: bodies. Rules: `oldestFirst` has the versions of each key from
 * the oldest to the newest, as they were made, and `newestFirst` the other way round; either continues behind any place; memory does not depend on the number of
 * versions, also not on that of one key.
 */
import { comesBefore } from '../../state-machine/base/key-order.ts'
import type { KeyRange, RowKey } from '../../state-machine/base/row-key.ts'
import type { BucketId, VersionId } from '../../state-machine/base/record-ids.ts'
import { versionKeys, versionRanges } from '../../state-machine/versions/keys.ts'
import type { VersionRecord } from '../../state-machine/versions/records.ts'
import type { BackupRows, FoundRow } from './backup-rows.ts'

/** Of one version of the backup. */
export interface VersionPlace {
  readonly key: string
  readonly versionId: VersionId
  /** It is the newest of its key and no delete marker: then it has another row. */
  readonly isCurrent: boolean
}

export function placeOf({ kind, key, versionId, newer }: VersionRecord): VersionPlace {
  return { key, versionId, isCurrent: kind === 'object' && newer === null }
}

export async function versionAtPlace(
  rows: BackupRows,
  bucketId: BucketId,
  { key, versionId, isCurrent }: VersionPlace,
): Promise<VersionRecord | undefined> {
  return isCurrent
    ? rows.get(versionKeys.object(bucketId, key))
    : rows.get(versionKeys.version(bucketId, key, versionId))
}

/** Keys against their order; `after` null: from the beginning. Throws TargetError. */
export async function* oldestFirst(
  rows: BackupRows,
  bucketId: BucketId,
  after: VersionPlace | null,
): AsyncGenerator<VersionRecord> {
  const versions: KeyRange<VersionRecord> = versionRanges.versions(bucketId)
  const objects: KeyRange<VersionRecord> = versionRanges.objects(bucketId)
  const [version, object] = after === null ? [versions.end, objects.end] : rowsAt(bucketId, after)
  // Rows of a key are newest first; its object, which is newer than all of them, comes behind them here.
  const objectsBefore = after === null || after.isCurrent ? object : behind(object)
  yield* merged(
    rows.descending(versions, version),
    rows.descending(objects, objectsBefore),
    (version, object) => !comesBefore(version.key, object.key),
  )
}

/** Keys in their order. Throws TargetError. */
export async function* newestFirst(
  rows: BackupRows,
  bucketId: BucketId,
  after: VersionPlace | null,
): AsyncGenerator<VersionRecord> {
  const versions: KeyRange<VersionRecord> = versionRanges.versions(bucketId)
  const objects: KeyRange<VersionRecord> = versionRanges.objects(bucketId)
  const [versionsFrom, objectsFrom] = after === null ? [] : rowsAt(bucketId, after).map(behind)
  yield* merged(
    rows.ascending(versions, versionsFrom),
    rows.ascending(objects, objectsFrom),
    (version, object) => comesBefore(version.key, object.key),
  )
}

/** `isFirst`: the version comes before the object. */
async function* merged(
  versions: AsyncGenerator<FoundRow<VersionRecord>>,
  objects: AsyncGenerator<FoundRow<VersionRecord>>,
  isFirst: (version: VersionRecord, object: VersionRecord) => boolean,
): AsyncGenerator<VersionRecord> {
  let [version, object] = [await next(versions), await next(objects)]
  while (version !== null || object !== null) {
    if (object === null || (version !== null && isFirst(version, object))) {
      if (version !== null) yield version
      version = await next(versions)
    } else {
      yield object
      object = await next(objects)
    }
  }
}

async function next(rows: AsyncGenerator<FoundRow<VersionRecord>>): Promise<VersionRecord | null> {
  const step = await rows.next()
  return step.done === true ? null : step.value.row
}

/** Where a place is among the rows of versions, and where its key is among those of objects. A current version comes before the other versions of its key. */
function rowsAt(
  bucketId: BucketId,
  { key, versionId, isCurrent }: VersionPlace,
): [version: RowKey<VersionRecord>, object: RowKey<VersionRecord>] {
  const version = versionKeys.version(bucketId, key, isCurrent ? LAST : versionId)
  return [version, versionKeys.object(bucketId, key)]
}

/** Above the id of any version: ids descend in the keys of rows, so it comes first there. */
const LAST = 'Z'.repeat(26)

/** The key next to `key`. */
const behind = (key: string): string => `${key}\u0000`
