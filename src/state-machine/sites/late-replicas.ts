/**
 * Refuses what another site sent earlier than something of its own that is here.
 *
 * Owns: that comparison. Knows nothing of: queues, requests. Rules: conditions of S3 do not notice a late request where what it expects is there again: nothing
 * behind a delete marker, or equal bytes; marks of one origin do. They do not notice a deletion that was made here while an upload was under way either: its second
 * does. Only requests of replication are judged by it: an upload with a mark and a condition, a deletion with a mark.
 */
import type { BucketId } from '../base/record-ids.ts'
import { type Refused, refuse } from '../base/reply.ts'
import type { ApplyContext, View } from '../base/view.ts'
import { newestVersion } from '../versions/versions.ts'
import { MARK_NAME, readMark, secondOf } from './mark.ts'

/** The feature level of marks. */
const MARKS_LEVEL = 7

export interface FromSite {
  readonly bucketId: BucketId
  readonly key: string
  /** Undefined: it is no request of replication. Of a deletion it may be that of the version that goes. */
  readonly mark: string | undefined
  readonly isDeletion: boolean
}

/** Null: it may be done. */
export function lateReplicaFault(
  view: View,
  { bucketId, key, mark: text, isDeletion }: FromSite,
  { featureLevel }: Pick<ApplyContext, 'featureLevel'>,
): Refused | null {
  const mark = text === undefined || featureLevel < MARKS_LEVEL ? null : readMark(text)
  if (mark === null) return null
  const newest = newestVersion(view, bucketId, key)
  if (!isDeletion && newest?.kind === 'deleteMarker' && newest.replicaOf === undefined)
    return secondOf(newest.lastModified) > secondOf(mark.time)
      ? late(key, 'this site has deleted it since')
      : null
  const there = readMark(newest?.kind === 'object' ? newest.metadata[MARK_NAME] : newest?.replicaOf)
  const isOfOne = there?.clusterId === mark.clusterId && there.bucketId === mark.bucketId
  if (!isOfOne || there.versionId < mark.versionId) return null
  if (isDeletion && there.versionId === mark.versionId) return null
  return late(key, 'the site that sends it has sent a later one')
}

function late(key: string, why: string): Refused {
  return refuse('precondition_failed', `The change of "${key}" by replication comes late: ${why}`)
}
