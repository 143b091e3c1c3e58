/**
 * The mark of a replica, in its user metadata: the version, bucket and cluster that it is a copy from.
 *
 * Owns: its spelling. Knows nothing of: who writes it. Rules: a version that came with a mark is not sent to another site, so two sites that
 * replicate to each other do not loop; ids of one bucket ascend like its log, so the mark says which of two versions of one origin is newer.
 */
import type { BucketId, VersionId } from '../base/record-ids.ts'
import { isVersionId } from '../base/version-id.ts'

/** The name of the user metadata, `x-amz-meta-holdfast-replica` in the S3 API. */
export const MARK_NAME = 'holdfast-replica'
/** Of a DELETE that repeats one of another site: the bucket does not send it on. */
export const REPLICA_HEADER = 'x-holdfast-replica'

export interface Mark {
  readonly clusterId: string
  readonly bucketId: BucketId
  readonly versionId: VersionId
  /** When the version was made, by the time of its cluster. ms since 1970 */
  readonly time: number
}

/** Of a bucket of a Holdfast, in answers to HeadBucket: the ids of its cluster and of itself. */
export const IDENTITY_HEADER = 'x-holdfast-bucket'

/** Of a CreateBucket by replication: the id of the cluster and the name of the bucket that the new one is for. */
export const SOURCE_HEADER = 'x-holdfast-source-bucket'

export function sourceText({
  clusterId,
  name,
}: {
  readonly clusterId: string
  readonly name: string
}): string {
  return `${clusterId} ${name}`
}

/** The name of the source, by what a bucket keeps of it. Null: it is no source. */
export function sourceNameIn(text: string): string | null {
  return /^[\w-]{1,64} ([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])$/.exec(text)?.[1] ?? null
}

/** How a bucket of a cluster is called by others. */
export function identityText({ clusterId, bucketId }: Pick<Mark, 'clusterId' | 'bucketId'>): string {
  return `${clusterId} ${bucketId}`
}

const FORM = /^1 ([\w-]{1,64}) (\w{1,64}) (\w{26}) (\d{1,15})$/

export function markText({ clusterId, bucketId, versionId, time }: Mark): string {
  return `1 ${clusterId} ${bucketId} ${versionId} ${time}`
}

/** Null: it is none. */
export function readMark(text: string | undefined): Mark | null {
  const [, clusterId, bucketId, versionId, time] = FORM.exec(text ?? '') ?? []
  if (clusterId === undefined || bucketId === undefined || versionId === undefined) return null
  return isVersionId(versionId) ? { clusterId, bucketId, versionId, time: Number(time) } : null
}

/** Whether the version came from another site. */
export function isReplica(metadata: Readonly<Record<string, string>>): boolean {
  return Object.hasOwn(metadata, MARK_NAME) && readMark(metadata[MARK_NAME]) !== null
}

/** Times of two origins are compared by it: the later second counts. `ms`: since 1970. */
export const secondOf = (ms: number): number => Math.floor(ms / 1000)
