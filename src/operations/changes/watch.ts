/**
 * What a caller would be shown of each topic, as digests, and what differs from those that it has seen.
 *
 * Owns: what a cursor holds, and how many callers wait at this node. Rules: nothing is kept for a caller, so a cursor of any age and of any node is
 * good, and no change can be missed; a look is shared by all that wait; figures that change with every request, such as the lag of a member, are no
 * change.
 */
import { createHash } from 'node:crypto'
import { Attached } from '../../base/attached.ts'
import { schedulesOf, targetsOf } from '../../state-machine/backup-plans/plans.ts'
import { longOperationRanges } from '../../state-machine/long-operations/keys.ts'
import { membersOf } from '../../state-machine/members/members.ts'
import type { Services } from '../base/services.ts'

/** In the order of a cursor; another one is appended, so that cursors of other versions remain good for those before. */
export const TOPICS = ['membership', 'operations', 'backups'] as const
export type Topic = (typeof TOPICS)[number]

export interface Changes {
  readonly cursor: string
  readonly changed: readonly Topic[]
}

type Seen = Readonly<Record<Topic, string>>

export const LOOK_EVERY_MS = 500
/** Streams and requests that wait, together. */
export const WAITING_MAX = 64
/** More than are kept and may run. */
const OPERATIONS_MAX = 1000
/** A member that this node has received nothing from for so long is shown as silent. */
const SILENT_MS = 5_000
const DIGEST_CHARS = 16

export interface Watch {
  waiting: number
  look: { readonly atMs: number; readonly seen: Promise<Seen> } | null
}

const WATCHES = new Attached<object, Watch>()

/** Of this node. */
export function watchOf({ state }: Services): Watch {
  const known = WATCHES.get(state)
  if (known !== undefined) return known
  const made: Watch = { waiting: 0, look: null }
  WATCHES.set(state, made)
  return made
}

/** `since` null, or a cursor that is none of ours: nothing was seen yet. */
export async function changesSince(services: Services, since: string | null): Promise<Changes> {
  const seen = await look(services)
  const before = since?.split('.') ?? []
  const changed = TOPICS.filter((topic, at) => before[at] !== seen[topic])
  return { cursor: TOPICS.map((topic) => seen[topic]).join('.'), changed }
}

function look(services: Services): Promise<Seen> {
  const watch = watchOf(services)
  const now = performance.now()
  if (watch.look === null || now - watch.look.atMs >= LOOK_EVERY_MS)
    watch.look = { atMs: now, seen: seenNow(services) }
  return watch.look.seen
}

async function seenNow(services: Services): Promise<Seen> {
  const { state, cluster } = services
  const { leaderId, stateLevel, configurationIndex, heardMs, doubts = [] } = cluster.membership.local()
  const silent = Object.entries(heardMs)
    .filter(([, ms]) => ms > SILENT_MS)
    .map(([nodeId]) => nodeId)
  const { reasons } = cluster.readiness()
  const members = {
    leaderId,
    stateLevel,
    configurationIndex,
    silent,
    doubts,
    reasons,
    rows: membersOf(state),
  }
  const { items } = await state.page(longOperationRanges.operations(), { after: '', limit: OPERATIONS_MAX })
  const backups = state.cut((view) => [schedulesOf(view), targetsOf(view)])
  return { membership: digestOf(members), operations: digestOf(items), backups: digestOf(backups) }
}

const digestOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, DIGEST_CHARS)
