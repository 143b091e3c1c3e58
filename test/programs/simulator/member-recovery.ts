/**
 * The end of a walk of membership: faults stop and no new requests are sent. Every operation must end, and all members must agree.
 *
 * Owns: the bounds. Rule: machines whose disk is spoiled are switched off for good; operators cancel operations that wait for them and declare them lost.
 */
import type { MemberWalk } from './member-walk.ts'
import { MemberService } from './member-service.ts'
import { callOperator, isAllOf, isEqual, membersOf, stateOf } from './recovery.ts'
import type { SimFaults } from './sim-faults.ts'
import type { SimHost } from './sim-host.ts'
import type { SimWorld } from './sim-world.ts'

const LIMIT_MS = 1_200_000
const EVENTS_MAX = 100_000
const CLEAN_EVERY_MS = 5_000

export function recoverMembers(world: SimWorld, faults: SimFaults, walk: MemberWalk): void {
  const { scheduler, clients, hosts, checks } = world
  const { oracle, operators } = walk
  faults.stop()
  walk.stop()
  clients.slowDown()
  const isGone = (host: SimHost): boolean => host.isLost
  const core = hosts.filter((host) => host.isInstalled && !isGone(host))
  for (const host of hosts) {
    const mustEnd = isGone(host) || host.process?.hasMetFault === true
    if (mustEnd) world.kill(host)
    if (isGone(host)) host.downUntil = Number.POSITIVE_INFINITY
    else world.startLater(host, 0)
  }
  const limitMs = scheduler.now + LIMIT_MS
  const until = (what: string, isDone: () => boolean): void => {
    const limit = scheduler.events + EVENTS_MAX
    while (!isDone() && scheduler.violation === null) {
      if (!scheduler.step() || scheduler.now > limitMs || scheduler.events > limit)
        scheduler.violate(`recovery: ${what}; ${stateOf(world, core)}; ${operationsOf(walk)}`)
    }
  }
  // A joining node may never be ready: another disk may own its name.
  const isJoining = (id: string): boolean =>
    oracle.members.members.some(({ nodeId, phase }) => nodeId === id && phase === 'joining')
  const members = (): readonly SimHost[] =>
    membersOf(world, core).filter((host) => !isGone(host) && !isJoining(host.id))
  callOperator(world, () => core.filter((host) => !isGone(host)))
  until('every live member is ready', () =>
    isAllOf(members(), (host) => host.process?.node.readiness().ready === true),
  )
  const isSpoiled = (name: string): boolean => hosts.some((host) => host.id === name && isGone(host))
  const isSettled = (): boolean =>
    operators.open === 0 &&
    oracle.isQuiet &&
    oracle.members.members.every(({ nodeId, phase }) => phase === 'lost' || !isSpoiled(nodeId))
  let isOver = false
  const clean = (): void => {
    if (isOver || isSettled()) return
    switchOff(world, isGone)
    if (operators.open === 0) operators.cleanUp(isGone)
    scheduler.after(CLEAN_EVERY_MS, 'operator', {}, clean)
  }
  scheduler.after(CLEAN_EVERY_MS, 'operator', {}, clean)
  until('every operation ends', isSettled)
  isOver = true
  clients.finish()
  until(
    'every disk that went back is complete, or refused',
    () => !members().some((host) => host.isForgetful),
  )
  until('every call ends', () => clients.openCalls === 0)
  let answered = 0
  const asked = members()
  const before = clients.counts.acknowledged
  for (const host of asked) clients.writeAt(host, () => (answered += 1))
  until('every member is answered', () => answered === asked.length)
  if (scheduler.violation === null && clients.counts.acknowledged !== before + asked.length)
    scheduler.violate(`recovery: a healthy group refuses writes; ${stateOf(world, core)}`)
  until('all members are equal', () => isEqual(world, members()))
  until('all members know each other', () => isAllOf(members(), (host) => agrees(host, walk)))
  checks.compareLogs()
}

/** Also those found to be refused. */
function switchOff(world: SimWorld, isGone: (host: SimHost) => boolean): void {
  for (const host of world.hosts.filter(isGone)) {
    world.kill(host)
    host.downUntil = Number.POSITIVE_INFINITY
  }
}

/** Its directory equals the rows, and the rows know its disk. */
function agrees({ id, incarnation, process }: SimHost, { oracle }: MemberWalk): boolean {
  const service = process?.service
  if (!(service instanceof MemberService)) return false
  const { members, departed } = oracle.members
  // Founders wait for a founder that was gone before all had answered: there are no rows yet.
  if (members.length === 0) return true
  const { names, present } = service.directory
  const known = members.filter(({ phase }) => phase !== 'lost').map(({ nodeId }) => nodeId)
  const gone = departed.map(({ nodeId }) => nodeId)
  const isSame = (one: readonly string[], other: readonly string[]): boolean =>
    one.toSorted().join() === other.toSorted().join()
  const isOwn = members.some((member) => member.nodeId === id && member.incarnation === incarnation)
  return isOwn && isSame(names, known) && isSame(present.departed, gone) && !present.isJoining
}

function operationsOf({ oracle, operators }: MemberWalk): string {
  const { members, change } = oracle.members
  const rows = members.map(({ nodeId, phase }) => `${nodeId} ${phase}`).join(', ')
  const unfinished = oracle.unfinished.map(
    ({ operationId, kind, cursor, phase, node, newcomer, progress }) =>
      `${operationId} ${kind} ${node ?? ''} ${newcomer ?? ''} at ${cursor}: ${phase}, ${progress.tasksOpen} tasks`,
  )
  return `rows ${rows}; change ${change ?? 'none'}; ${unfinished.join('; ')}; ${operators.open} requests open`
}
