/**
 * The end of a walk of membership: faults stop and nobody wants anything new. Every operation must end, and all that belong must agree.
 *
 * Owns: the bounds. Rule: machines whose disk is spoiled are switched off for good; operators give up what waits for them and call them lost.
 */
import type { MemberWalk } from './member-walk.ts'
import { MemberService } from './member-service.ts'
import { callOperator, isAllOf, isEqual, membersOf, stateOf } from './recovery.ts'
import type { SimFaults } from './sim-faults.ts'
import type { SimSeat } from './sim-seat.ts'
import type { SimWorld } from './sim-world.ts'

const LIMIT_MS = 1_200_000
const EVENTS_MAX = 100_000
const CLEAN_EVERY_MS = 5_000

export function recoverMembers(world: SimWorld, faults: SimFaults, walk: MemberWalk): void {
  const { stage, clients, seats, checks } = world
  const { oracle, operators } = walk
  faults.stop()
  walk.stop()
  clients.slowDown()
  const isGone = (seat: SimSeat): boolean => seat.isLost
  const core = seats.filter((seat) => seat.isInstalled && !isGone(seat))
  for (const seat of seats) {
    const mustEnd = isGone(seat) || seat.process?.hasMetFault === true
    if (mustEnd) world.kill(seat)
    if (isGone(seat)) seat.downUntil = Number.POSITIVE_INFINITY
    else world.startLater(seat, 0)
  }
  const limitMs = stage.now + LIMIT_MS
  const until = (what: string, isDone: () => boolean): void => {
    const limit = stage.events + EVENTS_MAX
    while (!isDone() && stage.violation === null) {
      if (!stage.step() || stage.now > limitMs || stage.events > limit)
        stage.violate(`recovery: ${what}; ${stateOf(world, core)}; ${operationsOf(walk)}`)
    }
  }
  // A newcomer may never be ready: another disk may own its name.
  const isJoining = (id: string): boolean =>
    oracle.members.members.some(({ nodeId, phase }) => nodeId === id && phase === 'joining')
  const members = (): readonly SimSeat[] =>
    membersOf(world, core).filter((seat) => !isGone(seat) && !isJoining(seat.id))
  callOperator(world, () => core.filter((seat) => !isGone(seat)))
  until('every live member is ready', () =>
    isAllOf(members(), (seat) => seat.process?.node.readiness().ready === true),
  )
  const isSpoiled = (name: string): boolean => seats.some((seat) => seat.id === name && isGone(seat))
  const isSettled = (): boolean =>
    operators.open === 0 &&
    oracle.isQuiet &&
    oracle.members.members.every(({ nodeId, phase }) => phase === 'lost' || !isSpoiled(nodeId))
  let isOver = false
  const clean = (): void => {
    if (isOver || isSettled()) return
    switchOff(world, isGone)
    if (operators.open === 0) operators.cleanUp(isGone)
    stage.after(CLEAN_EVERY_MS, 'operator', {}, clean)
  }
  stage.after(CLEAN_EVERY_MS, 'operator', {}, clean)
  until('every operation ends', isSettled)
  isOver = true
  clients.finish()
  until('every disk that went back is whole, or not heard', () => !members().some((seat) => seat.isForgetful))
  until('every call ends', () => clients.openCalls === 0)
  let answered = 0
  const asked = members()
  const before = clients.counts.acknowledged
  for (const seat of asked) clients.writeAt(seat, () => (answered += 1))
  until('every member is answered', () => answered === asked.length)
  if (stage.violation === null && clients.counts.acknowledged !== before + asked.length)
    stage.violate(`recovery: a healthy group refuses writes; ${stateOf(world, core)}`)
  until('all members are equal', () => isEqual(world, members()))
  until('all members know each other', () => isAllOf(members(), (seat) => agrees(seat, walk)))
  checks.compareLogs()
}

/** Of what turned out not to be heard any more as well. */
function switchOff(world: SimWorld, isGone: (seat: SimSeat) => boolean): void {
  for (const seat of world.seats.filter(isGone)) {
    world.kill(seat)
    seat.downUntil = Number.POSITIVE_INFINITY
  }
}

/** Its directory is what the rows say, and the rows know its disk. */
function agrees({ id, incarnation, process }: SimSeat, { oracle }: MemberWalk): boolean {
  const service = process?.service
  if (!(service instanceof MemberService)) return false
  const { members, departed } = oracle.members
  // Founders of which one was gone before all were heard wait for it: there are no rows yet.
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
