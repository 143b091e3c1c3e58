/**
 * getChanges: authorize -> compare what the caller has seen with what is -> wait, if it asked to.
 *
 * Owns: what a cursor holds: for each topic a digest of what a caller would be shown of it. Rules: nothing is kept for a caller, so a cursor of any
 * age and of any node is good, and no change can be missed; a look is shared by all that wait; figures that change with every request, such as the
 * lag of a member, are no change.
 */
import { createHash } from 'node:crypto'
import { setTimeout as rest } from 'node:timers/promises'
import { adminToken } from '../../access/rights.ts'
import { Attached } from '../../base/attached.ts'
import { longOperationRanges } from '../../state-machine/long-operations/keys.ts'
import { membersOf } from '../../state-machine/members/members.ts'
import { adminOperation } from '../base/operation.ts'
import type { Services } from '../base/services.ts'
import { noTarget } from '../base/targets.ts'

export const TOPICS = ['membership', 'operations'] as const
export type Topic = (typeof TOPICS)[number]

export interface Changes {
  readonly cursor: string
  readonly changed: readonly Topic[]
}

export interface ChangesInput {
  /** null: nothing was seen yet. */
  readonly since: string | null
  readonly waitMs: number
  readonly signal: AbortSignal
}

type Seen = Readonly<Record<Topic, string>>

const LOOK_EVERY_MS = 500
/** Those beyond are answered at once. */
const WAITING_MAX = 64
/** More than are kept and may run. */
const OPERATIONS_MAX = 1000
/** A member that this node has received nothing from for so long is shown as silent. */
const SILENT_MS = 5_000
const DIGEST_CHARS = 16

interface Watch {
  waiting: number
  look: { readonly atMs: number; readonly seen: Promise<Seen> } | null
}

const WATCHES = new Attached<object, Watch>()

export const getChanges = adminOperation(
  {
    id: 'getChanges',
    requires: adminToken('owner', 'cluster'),
    refuses: [],
    isRoutine: true,
    target: noTarget,
  },
  async (services, principal, { since, waitMs, signal }: ChangesInput): Promise<Changes> => {
    const watch = watchOf(services)
    const over = AbortSignal.any([signal, services.stopping])
    const until = performance.now() + (watch.waiting < WAITING_MAX ? waitMs : 0)
    watch.waiting++
    try {
      for (;;) {
        const found = changesSince(since, await look(services, watch))
        const leftMs = until - performance.now()
        if (found.changed.length > 0 || leftMs <= 0 || over.aborted) return found
        await rest(Math.min(LOOK_EVERY_MS, leftMs), undefined, { signal: over }).catch(() => undefined)
      }
    } finally {
      watch.waiting--
    }
  },
)

function watchOf({ state }: Services): Watch {
  const known = WATCHES.get(state)
  if (known !== undefined) return known
  const made: Watch = { waiting: 0, look: null }
  WATCHES.set(state, made)
  return made
}

function look(services: Services, watch: Watch): Promise<Seen> {
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
  return { membership: digestOf(members), operations: digestOf(items) }
}

const digestOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, DIGEST_CHARS)

/** A cursor that is none of ours has seen nothing. Pure. */
function changesSince(since: string | null, seen: Seen): Changes {
  const before = since?.split('.') ?? []
  const changed = TOPICS.filter((topic, at) => before[at] !== seen[topic])
  return { cursor: TOPICS.map((topic) => seen[topic]).join('.'), changed }
}
