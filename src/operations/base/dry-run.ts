/**
 * Dry runs: an operation does everything up to its proposal, which is decided by the very function that apply uses and then forgotten.
 *
 * Owns: the services under which nothing is committed, and which refusals are reported as blockers of the plan. Knows nothing of:
 * what is planned. Rules: an operation does not know that it is rehearsed, so a dry run says what the real one would have said;
 * no secret is made for it, so none can be shown.
 */
import type { ApplyContext, Row, View, Write } from '../../state-machine/base/view.ts'
import type { RowKey } from '../../state-machine/base/row-key.ts'
import type { ClusterTimePort, MembershipPort } from '../../../cluster/index.ts'
import { dryRunAccess } from '../../access/dry-run-access.ts'
import { type Blocker, Refusal, type RefusalCode } from '../../base/refusal.ts'
import type { Command } from '../../state-machine/commands.ts'
import { apply } from '../../state-machine/state-machine.ts'
import type { Propose } from '../../commands/propose.ts'
import { requireLevel } from '../../commands/level-gate.ts'
import { commandLevel } from '../../state-machine/command-levels.ts'
import type { Services } from './services.ts'

export interface Plan<P> {
  /** What would be done, in figures. */
  readonly plan: P
  /** Sentences on what to think of first. */
  readonly warnings: readonly string[]
  /** Whose it is, if it is about one tenant. */
  readonly tenantId?: string
}

export interface DryRun<P> extends Plan<P> {
  /** Whether it would be done if it were asked for now. */
  readonly allowed: boolean
  readonly blockers: readonly Blocker[]
}

/** The present state is the blocker, not the request: it may succeed later as it is. */
const BLOCKING: ReadonlySet<RefusalCode> = new Set<RefusalCode>([
  'precondition_failed',
  'already_exists',
  'bucket_already_exists',
  'bucket_not_empty',
  'insufficient_storage',
])

/** The blocker of a change that waits for the approval of another owner. */
export const APPROVAL_REQUIRED = 'approval_required'

/** Larger than any index of a log that there will be; ids made of it are never shown. */
const NO_INDEX = Number.MAX_SAFE_INTEGER

/** What the operation refuses for any other reason than a blocker, it refuses here as well. */
export async function dryRun<R, P>(
  services: Services,
  run: (services: Services) => Promise<R>,
  /** Is given what the operation would answer; null when it is blocked. */
  plan: (outcome: R | null) => Promise<Plan<P>>,
): Promise<DryRun<P>> {
  let blockers: readonly Blocker[] = []
  let outcome: R | null = null
  try {
    outcome = await run(rehearsed(services))
  } catch (error) {
    if (!(error instanceof Refusal) || !BLOCKING.has(error.code)) throw error
    blockers = error.extras.blockers ?? [{ code: error.code, message: error.message }]
  }
  const { warnings, ...planned } = await plan(outcome)
  const isUnasked = blockers.some(({ code }) => code === APPROVAL_REQUIRED)
  const approval = isUnasked ? ['The dry run asked for no approval: the request itself does'] : []
  return {
    allowed: blockers.length === 0,
    ...planned,
    warnings: [...warnings, ...approval],
    blockers,
  }
}

function rehearsed(services: Services): Services {
  const view = new RehearsedView(services.state)
  const propose = async (command: Command): Promise<unknown> => {
    await requireLevel(services.cluster, commandLevel(command))
    const featureLevel = services.cluster.membership.stateLevel
    const times = rehearsedTimes(services.cluster.time)
    const context = { index: NO_INDEX, ...times, ordinal: 0, featureLevel }
    const { writes, reply } = apply(view, command, context)
    view.take(writes)
    return reply
  }
  // Which reply belongs to which command is the promise of apply, as for proposals that are committed.
  const cluster: Services['cluster'] = {
    ...services.cluster,
    membership: onlyAsking(services.cluster.membership),
    orderDisk: (nodeId, order) => services.cluster.orderDisk(nodeId, { ...order, isRehearsal: true }),
  }
  const backups = { ...services.backups, book: unmarking(services.backups.book) }
  return { ...services, cluster, backups, propose: propose as Propose, access: dryRunAccess(services.access) }
}

/** A place is tried, and gets no marker. */
function unmarking(book: Services['backups']['book']): Services['backups']['book'] {
  return {
    probe: (place) => book.probe(place),
    secretOf: (name, place) => book.secretOf(name, place),
    mark: async () => undefined,
  }
}

/** As the next entry would have them. */
function rehearsedTimes(clock: ClusterTimePort): Pick<ApplyContext, 'time' | 'confirmedTime' | 'orderTime'> {
  const { logTime, confirmedTime } = clock.status()
  const time = Math.max(logTime, clock.now())
  return { time, confirmedTime: time - (logTime - confirmedTime), orderTime: time }
}

/** Members may be asked for their status; no member is ordered to do anything. */
function onlyAsking(membership: MembershipPort): MembershipPort {
  const nothing = async (): Promise<void> => undefined
  return {
    isJoining: membership.isJoining,
    identity: membership.identity,
    ownPlace: membership.ownPlace,
    stateLevel: membership.stateLevel,
    local: () => membership.local(),
    ask: (nodeId) => membership.ask(nodeId),
    memberStatuses: () => membership.memberStatuses(),
    newcomer: (nodeId, address) => membership.newcomer(nodeId, address, false),
    change: nothing,
    transfer: nothing,
    setMembers: nothing,
  }
}

/** The stored rows under what was rehearsed so far: a second proposal sees the first. */
class RehearsedView implements View {
  readonly #below: View
  readonly #written = new Map<RowKey, Row | null>()

  constructor(below: View) {
    this.#below = below
  }

  get<R extends object>(key: RowKey<R>): R | undefined {
    const row = this.#written.get(key)
    if (row === undefined) return this.#below.get(key)
    return row === null ? undefined : (row as R)
  }

  take(writes: readonly Write[]): void {
    for (const { key, row } of writes) this.#written.set(key, row)
  }
}
