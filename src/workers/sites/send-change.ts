/**
 * Sends one change of a bucket to its other site.
 *
 * Owns: what each kind of change needs to be there. Knows nothing of: HTTP, queues.
 * Rules: it asks what is there before it changes it, so a change that was sent before is found and not sent again; what it sends is the version
 * as it is now, under the condition that nothing came between.
 */
import type { PinnedObject } from '../../content/content.ts'
import type { RemotePut, RemoteStore, RemoteVersion } from '../../operations/base/remote-store.ts'
import { SiteFault } from '../../operations/base/remote-store.ts'
import { precedence, type Precedence } from '../../operations/replication/precedence.ts'
import type { SendVerdict } from '../../state-machine/sites/commands.ts'
import type { Mark } from '../../state-machine/sites/mark.ts'
import type { SiteChangeRecord } from '../../state-machine/sites/records.ts'
import type { ObjectRecord, RetentionRecord } from '../../state-machine/versions/records.ts'

/** Versions of one key that are asked for their mark. */
const VERSIONS_ASKED_MAX = 50

/** The version of the change as it is here now. */
export interface SentVersion extends PinnedObject {
  /** The newest of its key. */
  readonly isCurrent: boolean
  readonly assembledOf?: readonly number[]
  readonly body: RemotePut['body']
}

/** The key of the change as it is here now. */
export interface KeyHere {
  /** Its newest version is an object. */
  readonly isPresent: boolean
  readonly has: (versionId: string) => boolean
  /** Whether a version from another site, or a copy of it, was here before the change. */
  readonly hadBefore: (origin: Pick<Mark, 'clusterId' | 'bucketId' | 'versionId'>) => boolean
}

export interface Sent {
  readonly remote: RemoteStore
  readonly change: SiteChangeRecord
  /** Null: the version is gone here. */
  readonly version: SentVersion | null
  readonly here: KeyHere
  /** By the clock of the log: retention that has ended by then is refused wherever it is sent. ms since 1970 */
  readonly now: number
  readonly origin: Pick<Mark, 'clusterId' | 'bucketId'>
  /** The identity of the target; null: it has none. */
  readonly other: string | null
}

export type Outcome = Extract<SendVerdict, 'sent' | 'skipped' | 'conflict'>

/** Something came between the question and the change: what is there now decides. Bounded, because both sites may be busy with one key. */
const ASKED_AGAIN_MAX = 3

/** Throws SiteFault, and what reading the version throws. */
export async function sendChange(sent: Sent): Promise<Outcome> {
  for (let asked = 1; ; asked++) {
    try {
      return await sendOnce(sent)
    } catch (error) {
      if (asked === ASKED_AGAIN_MAX || !hasChanged(error)) throw error
    }
  }
}

function hasChanged(error: unknown): boolean {
  if (!(error instanceof SiteFault)) return false
  return error.s3Code === 'PreconditionFailed' || error.s3Code === 'ConditionalRequestConflict'
}

function sendOnce(sent: Sent): Promise<Outcome> {
  switch (sent.change.kind) {
    case 'put':
      return sent.version === null ? Promise.resolve('skipped') : sendVersion(sent, sent.version)
    case 'tags':
    case 'lock':
      return sent.version === null ? Promise.resolve('skipped') : sendSettings(sent, sent.version)
    case 'delete':
      return sendDeletion(sent)
    case 'remove':
      return sendRemoval(sent)
  }
}

async function sendVersion(sent: Sent, { object, assembledOf, body }: SentVersion): Promise<Outcome> {
  const { remote } = sent
  const { key, versionId } = object
  const mark = markOf(sent, object)
  const there = await remote.head({ key, versionId: null })
  switch (rankOf(sent, mark, there)) {
    case 'same':
      return 'sent'
    case 'superseded':
      return 'skipped'
    case 'later':
      return 'conflict'
    case 'absent':
    case 'older':
      if (there !== null && !isOwn(sent, there)) {
        // The other site has written over what was sent: this version, whose answer was lost, or a later one.
        const mark = await newestOwn(sent)
        if (mark !== null && mark.versionId >= versionId)
          return mark.versionId === versionId ? 'sent' : 'skipped'
      }
      await locking(retentionOf(sent, object), (retention) =>
        remote.put({
          key,
          object: { ...object, retention },
          mark,
          expected: expectedOf(there),
          ...(assembledOf === undefined ? {} : { assembledOf }),
          body,
        }),
      )
      return 'sent'
  }
}

/** Retention that ends on the way is refused as wrong: the next attempt sends none. */
async function locking(
  retention: RetentionRecord | null,
  request: (retention: RetentionRecord | null) => Promise<void>,
): Promise<void> {
  try {
    await request(retention)
  } catch (error) {
    if (retention === null || !(error instanceof SiteFault) || error.kind !== 'refused') throw error
    throw new SiteFault('failed', error.message, { retryAfterMs: error.retryAfterMs })
  }
}

function rankOf(sent: Sent, mark: Mark, there: RemoteVersion | null): Precedence {
  const { other, here } = sent
  const follows = (version: RemoteVersion): boolean => {
    const origin = version.mark ?? originAt(other, version.versionId)
    return origin !== null && here.hadBefore(origin)
  }
  return precedence({ mark, follows }, there, other)
}

/** Of a version that was made at the target; null: it is no Holdfast, or keeps no versions. */
function originAt(other: string | null, versionId: string | null) {
  const [clusterId, bucketId] = other?.split(' ') ?? []
  return clusterId === undefined || bucketId === undefined || versionId === null
    ? null
    : { clusterId, bucketId, versionId }
}

function isOwn({ origin }: Sent, { mark }: RemoteVersion): boolean {
  return mark?.clusterId === origin.clusterId && mark.bucketId === origin.bucketId
}

function retentionOf({ now }: Sent, { retention }: ObjectRecord): RetentionRecord | null {
  return retention === null || retention.until <= now ? null : retention
}

function expectedOf(there: RemoteVersion | null): string | null {
  return there === null || there.isDeleteMarker ? null : there.etag
}

async function sendSettings(sent: Sent, version: SentVersion): Promise<Outcome> {
  const { remote } = sent
  const { object, isCurrent } = version
  const { key } = object
  const found = await findReplica(sent, object.versionId)
  // A rule may name it because of the very change.
  if (found === null) return isCurrent ? sendVersion(sent, version) : 'skipped'
  const name = { key, versionId: found.versionId }
  if (sent.change.kind === 'tags') await remote.setTags(name, object.tags)
  else {
    await locking(retentionOf(sent, object), (retention) => remote.setRetention(name, retention))
    await remote.setLegalHold(name, object.legalHold)
  }
  return 'sent'
}

async function sendDeletion(sent: Sent): Promise<Outcome> {
  const { remote, change } = sent
  const { key, versionId, time } = change
  const mark: Mark = { ...sent.origin, versionId, time }
  const there = await remote.head({ key, versionId: null })
  if (there === null || there.isDeleteMarker) {
    // A bucket that is not there answers the same.
    if (there === null) await remote.probe()
    return 'sent'
  }
  const rank = rankOf(sent, mark, there)
  if (rank === 'superseded') return 'skipped'
  if (rank === 'later') return 'conflict'
  await remote.remove({ key, versionId: null }, { expected: there.etag, mark })
  return 'sent'
}

async function sendRemoval(sent: Sent): Promise<Outcome> {
  const { remote, change } = sent
  const { key, versionId, time } = change
  const found = await findReplica(sent, versionId)
  // Of several delete markers in a row the target has one, which stands for all of them.
  if (found !== null && (!found.isDeleteMarker || sent.here.isPresent))
    await remote.remove(
      { key, versionId: found.versionId },
      { expected: null, mark: { ...sent.origin, versionId, time } },
    )
  await uncover(sent)
  return 'sent'
}

/** Removes delete markers of this site that hide at the target what is shown here. */
async function uncover(sent: Sent): Promise<void> {
  const { remote, here, change } = sent
  const { key, time } = change
  for (let asked = 0; asked < VERSIONS_ASKED_MAX; asked++) {
    const newest = await remote.head({ key, versionId: null })
    // A bucket that is not there answers the same.
    if (newest === null) await remote.probe()
    if (newest?.isDeleteMarker !== true || !here.isPresent || !isOwn(sent, newest)) return
    const { versionId, mark } = newest
    if (versionId === null || mark === null || here.has(mark.versionId)) return
    await remote.remove({ key, versionId }, { expected: null, mark: { ...mark, time } })
  }
}

/** Of the newest version of this site at the target, whatever lies above it; null: none is found. */
async function newestOwn(sent: Sent): Promise<Mark | null> {
  const { remote, change } = sent
  const { key } = change
  for (const versionId of (await remote.versionsOf(key)).slice(0, VERSIONS_ASKED_MAX)) {
    const one = await remote.head({ key, versionId })
    if (one !== null && isOwn(sent, one)) return one.mark
  }
  return null
}

/** The copy of a version at the target, by its mark. */
async function findReplica(sent: Sent, versionId: string): Promise<RemoteVersion | null> {
  const { remote, change } = sent
  const { key } = change
  const isIt = (there: RemoteVersion | null): boolean =>
    there?.mark?.versionId === versionId && isOwn(sent, there)
  const newest = await remote.head({ key, versionId: null })
  if (isIt(newest)) return newest
  const ids = await remote.versionsOf(key)
  for (const id of ids.slice(0, VERSIONS_ASKED_MAX)) {
    if (id === newest?.versionId) continue
    const one = await remote.head({ key, versionId: id })
    if (isIt(one)) return one
  }
  if (ids.length > VERSIONS_ASKED_MAX)
    throw new SiteFault(
      'refused',
      `The version is not among the newest ${VERSIONS_ASKED_MAX} of its key at the target`,
    )
  return null
}

function markOf({ origin }: Sent, { versionId, lastModified }: ObjectRecord): Mark {
  return { ...origin, versionId, time: lastModified }
}
