/**
 * What must hold of two sites: at every replica that is made, and when nothing waits any more.
 *
 * Owns: those rules, over rows alone. Knows nothing of: queues, requests. Rule: a version is called by its origin, which its mark or its own id says.
 */
import assert from 'node:assert/strict'
import type { Command, Reply } from '../../../src/state-machine/commands.ts'
import { bucketKeys } from '../../../src/state-machine/buckets/keys.ts'
import type { View } from '../../../src/state-machine/base/view.ts'
import { MARK_NAME, readMark } from '../../../src/state-machine/sites/mark.ts'
import type { ObjectRecord, VersionRecord } from '../../../src/state-machine/versions/records.ts'
import { versionsIn } from './site-gateway.ts'

/** Of the rows of one site. */
export interface Side {
  readonly clusterId: string
  readonly view: View
  /** Locks that ended by then do not count. ms since 1970 */
  readonly time: number
}

/** Replicas of one site as they are made: each once, and those of a key in the order of their origin. */
export class ReplicaOrder {
  readonly #newest = new Map<string, string>()
  made = 0

  /** Throws where a replica is made again, or behind a newer one. */
  took(command: Command, reply: Reply): void {
    if (!reply.ok) return
    if (command.type === 'deleteObject' && command.versionId !== null) this.#removed(command)
    if (command.type !== 'putObject') return
    const mark = readMark(command.metadata[MARK_NAME])
    if (mark === null) return
    this.made += 1
    const name = `${command.bucket}/${command.key} of ${mark.clusterId}`
    const before = this.#newest.get(name)
    assert.notEqual(before, mark.versionId, `the replica ${mark.versionId} of ${name} is made twice`)
    assert(
      before === undefined || before < mark.versionId,
      `the replica ${mark.versionId} of ${name} is made after ${before ?? ''}`,
    )
    this.#newest.set(name, mark.versionId)
  }

  /** By its id: an older one that waits may come now. */
  #removed({ bucket, key }: { readonly bucket: string; readonly key: string }): void {
    for (const name of this.#newest.keys())
      if (name.startsWith(`${bucket}/${key} of `)) this.#newest.delete(name)
  }
}

export interface Compared {
  readonly tenantId: string
  readonly bucket: string
  readonly keys: readonly string[]
  /** One way: the other site takes no changes of its own. */
  readonly isOneWay: boolean
  readonly hasVersions: boolean
  /** Versions from before may be missing there, below newer ones. ms since 1970 */
  readonly since: number
}

/** Nothing waits at either: the differences that are left. */
export function differences(
  { tenantId, bucket, keys, isOneWay, hasVersions, since }: Compared,
  here: Side,
  there: Side,
): readonly string[] {
  return keys.flatMap((key) => {
    const at = (side: Side): readonly VersionRecord[] => {
      const row = side.view.get(bucketKeys.bucket(tenantId, bucket))
      return row === undefined ? [] : versionsIn(side.view, row.id, key)
    }
    const [own, other] = [at(here), at(there)]
    const what = `${bucket}/${key}: `
    const found =
      (!isOneWay && isUndecided([own, other])) || isFromBefore(own, since)
        ? null
        : currentDifference(here, there, [own, other])
    const order = isOneWay && hasVersions ? orderDifference(here, there, [own, other], since) : null
    return [found, order].flatMap((text) => (text === null ? [] : [`${what}${text}`]))
  })
}

type Both = readonly [own: readonly VersionRecord[], other: readonly VersionRecord[]]

function currentDifference(here: Side, there: Side, [[own], [other]]: Both): string | null {
  const [a, b] = [said(here, own), said(there, other)]
  return a === b ? null : `here ${a}, there ${b}`
}

/**
 * Of one second, one site has deleted and the other one has put. A deletion that met a delete marker left nothing that would say which came first.
 * [docs/adr/0090-replication-to-a-second-site.md]
 */
function isUndecided([[own], [other]]: Both): boolean {
  if (own === undefined || other === undefined || own.kind === other.kind) return false
  return madeInSecond(own) === madeInSecond(other)
}

/** At the site that it comes from: a replica is younger than its origin by the way there. */
function madeInSecond(version: VersionRecord): number {
  const mark = readMark(version.kind === 'object' ? version.metadata[MARK_NAME] : version.replicaOf)
  return Math.floor((mark?.time ?? version.lastModified) / 1000)
}

/** It came to light when a newer one was removed by its id, and could not be sent below that. [RELIABILITY.md, not promised] */
function isFromBefore([own]: readonly VersionRecord[], since: number): boolean {
  return own !== undefined && own.lastModified <= since
}

/** What a reader sees of the newest version. */
function said(side: Side, version: VersionRecord | undefined): string {
  if (version?.kind !== 'object') return 'nothing'
  return JSON.stringify([originOf(side, version), ...settingsOf(side, version)])
}

function settingsOf({ time }: Side, version: ObjectRecord): readonly unknown[] {
  const { etag, size, contentType, metadata, tags, retention, legalHold } = version
  const { [MARK_NAME]: _mark, ...own } = metadata
  const isOver = retention === null || retention.until <= time
  return [etag, size, contentType, own, tags, isOver ? null : retention, legalHold]
}

function originOf({ clusterId }: Side, { metadata, versionId }: ObjectRecord): string {
  const mark = readMark(metadata[MARK_NAME])
  return mark === null ? `${clusterId} ${versionId}` : `${mark.clusterId} ${mark.versionId}`
}

/** The versions of one key in their order. A version that is locked there stays although it is gone here. */
function orderDifference(here: Side, there: Side, [own, other]: Both, since: number): string | null {
  const objects = (versions: readonly VersionRecord[]): readonly ObjectRecord[] =>
    versions.filter((one) => one.kind === 'object')
  const sent = new Set(objects(other).map((version) => originOf(there, version)))
  const due = objects(own).filter(
    (version) => version.lastModified > since || sent.has(originOf(here, version)),
  )
  const names = due.map((version) => said(here, version))
  const present = new Set(due.map((version) => originOf(here, version)))
  const kept = objects(other).filter(
    (version) => present.has(originOf(there, version)) || !isLocked(version, there.time),
  )
  const others = kept.map((version) => said(there, version))
  return names.join() === others.join() ? null : `versions here ${names.join()}, there ${others.join()}`
}

function isLocked({ retention, legalHold }: ObjectRecord, time: number): boolean {
  return legalHold || (retention !== null && retention.until > time)
}
