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
import { precedence } from '../../operations/replication/precedence.ts'
import type { SendVerdict } from '../../state-machine/sites/commands.ts'
import type { Mark } from '../../state-machine/sites/mark.ts'
import type { SiteChangeRecord } from '../../state-machine/sites/records.ts'
import type { ObjectRecord } from '../../state-machine/versions/records.ts'

/** Versions of one key that are asked for their mark. */
const VERSIONS_ASKED_MAX = 50

/** The version of the change as it is here now. */
export interface SentVersion extends PinnedObject {
  /** The newest of its key. */
  readonly isCurrent: boolean
  readonly assembledOf?: readonly number[]
  readonly body: RemotePut['body']
}

export interface Sent {
  readonly remote: RemoteStore
  readonly change: SiteChangeRecord
  /** Null: the version is gone here. */
  readonly version: SentVersion | null
  readonly origin: Pick<Mark, 'clusterId' | 'bucketId'>
  /** The identity of the target; null: it has none. */
  readonly other: string | null
}

export type Outcome = Extract<SendVerdict, 'sent' | 'skipped' | 'conflict'>

/** Throws SiteFault, and what reading the version throws. */
export function sendChange(sent: Sent): Promise<Outcome> {
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
  const { key } = object
  const mark = markOf(sent, object)
  const there = await remote.head({ key, versionId: null })
  switch (precedence(mark, there, sent.other)) {
    case 'same':
      return 'sent'
    case 'superseded':
      return 'skipped'
    case 'later':
      return 'conflict'
    case 'absent':
    case 'older':
      await remote.put({
        key,
        object,
        mark,
        expected: expectedOf(there),
        ...(assembledOf === undefined ? {} : { assembledOf }),
        body,
      })
      return 'sent'
  }
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
    await remote.setRetention(name, object.retention)
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
  const rank = precedence(mark, there, sent.other)
  if (rank === 'superseded') return 'skipped'
  if (rank === 'later') return 'conflict'
  await remote.remove({ key, versionId: null }, { expected: there.etag, mark })
  return 'sent'
}

async function sendRemoval(sent: Sent): Promise<Outcome> {
  const { remote, change } = sent
  const { key, versionId, time } = change
  const found = await findReplica(sent, versionId)
  if (found === null) await remote.probe()
  else
    await remote.remove(
      { key, versionId: found.versionId },
      { expected: null, mark: { ...sent.origin, versionId, time } },
    )
  return 'sent'
}

/** The copy of a version at the target, by its mark. */
async function findReplica(
  { remote, change, origin }: Sent,
  versionId: string,
): Promise<RemoteVersion | null> {
  const { key } = change
  const isIt = (there: RemoteVersion | null): boolean =>
    there?.mark?.versionId === versionId &&
    there.mark.clusterId === origin.clusterId &&
    there.mark.bucketId === origin.bucketId
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
