/**
 * People who change the members of a simulated cluster, through the operations of the service.
 *
 * Owns: the requests and their target nodes. Knows nothing of: what is right. Rule: a refusal of an operation is
 * expected; only an error without a code is a violation.
 */
import { Condition, MembershipRefusedError } from '../../../cluster/base/types.ts'
import type { AdminTokenPrincipal } from '../../../src/access/base/principal.ts'
import { demoteVoter } from '../../../src/operations/membership/demote-voter.ts'
import { joinVoter } from '../../../src/operations/membership/join-voter.ts'
import { markVoterLost } from '../../../src/operations/membership/mark-voter-lost.ts'
import { removeMember } from '../../../src/operations/membership/remove-member.ts'
import { replaceVoter } from '../../../src/operations/membership/replace-voter.ts'
import { transferLeadership } from '../../../src/operations/membership/transfer-leadership.ts'
import { cancelOperation } from '../../../src/operations/repair/operation-status.ts'
import type { Services } from '../../../src/operations/base/services.ts'
import { Refusal } from '../../../src/base/refusal.ts'
import type { MemberPhase } from '../../../src/state-machine/members/records.ts'
import { asConfigured, placeOf } from './member-places.ts'
import type { MemberOracle } from './member-oracle.ts'
import { MemberService } from './member-service.ts'
import { Random } from './random.ts'
import type { SimProcess } from './sim-process.ts'
import type { SimHost } from './sim-host.ts'
import type { SimWorld } from './sim-world.ts'

type Requested = (services: Services) => Promise<unknown>

const OWNER: AdminTokenPrincipal = {
  kind: 'adminToken',
  tokenId: 'olga',
  role: 'owner',
  noKeys: false,
  tenantId: null,
}
const reason = 'as it comes'
const VOTERS_MAX = 5
/** Between two requests of one operator. ms */
const THINK_MS = 4_000
const OPERATORS = 2

export class MemberOperators {
  readonly #world: SimWorld
  readonly #oracle: MemberOracle
  readonly #random: Random
  #last: Requested | null = null
  #isOver = false
  #restsUntil = 0
  /** The nodes that have not answered. */
  readonly #underWay = new Set<{ readonly asked: SimProcess }>()
  readonly counts = { asked: 0, allowed: 0, refused: 0 }

  constructor(world: SimWorld, oracle: MemberOracle) {
    this.#world = world
    this.#oracle = oracle
    this.#random = new Random(world.plan.seed, 'operators')
  }

  /** Requests in flight. A process that has ended never answers. */
  get open(): number {
    for (const under of this.#underWay) if (under.asked.isDead) this.#underWay.delete(under)
    return this.#underWay.size
  }

  start(): void {
    this.#setUp(this.#world.hosts.find(({ isInstalled }) => !isInstalled))
    for (let i = 0; i < OPERATORS; i += 1) this.#think()
  }

  /** No requests before this time. */
  restFor(ms: number): void {
    this.#restsUntil = this.#world.scheduler.now + ms
  }

  /** No new requests. */
  stop(): void {
    this.#isOver = true
  }

  /** At the end of a run: operations that cannot continue are cancelled, and members without a disk are declared lost. */
  cleanUp(isGone: (host: SimHost) => boolean): void {
    const { change, members } = this.#oracle.members
    const operation = this.#oracle.unfinished.find(({ operationId }) => operationId === change)
    const newcomer = operation?.newcomer ?? operation?.node
    // The first disk of a name may own it although no node has registered it.
    const areDoubtful = this.#hostsThat((host) => isGone(host) || host.formerLogs.length > 0)
    const gone = members.find(
      ({ nodeId, phase }) => phase !== 'lost' && this.#hostsThat(isGone).includes(nodeId),
    )
    const isBlocked = gone !== undefined && operation?.blocker?.code === 'would_lose_quorum'
    const isStuck = isBlocked || (operation?.cursor === 'catchUp' && areDoubtful.includes(newcomer ?? ''))
    if (operation !== undefined && isStuck)
      this.#ask((services) => cancelOperation(services, OWNER, { id: operation.operationId }))
    if (change === null && gone !== undefined) this.#ask(lost(gone.nodeId))
  }

  #hostsThat(holds: (host: SimHost) => boolean): readonly string[] {
    return this.#world.hosts.filter(holds).map(({ id }) => id)
  }

  #think(): void {
    this.#world.scheduler.after(this.#random.exponential(THINK_MS), 'operator', {}, () => {
      if (this.#isOver) return
      const requested = this.#draw()
      if (requested !== null) {
        this.#ask(requested)
        // Another operator sends the same request, or the first one did not get the answer.
        if (this.#random.chance(0.1)) this.#ask(requested)
        if (this.#random.chance(0.1) && this.#last !== null) this.#ask(this.#last)
        this.#last = requested
      }
      this.#think()
    })
  }

  /** At a serving member; sometimes at any running node. */
  #ask(requested: Requested): void {
    const { hosts, scheduler } = this.#world
    if (scheduler.now < this.#restsUntil) return
    const open = hosts.filter(({ process }) => process?.isOpen === true && process.status() !== null)
    const members = open.filter(({ id }) => this.#named('active', 'draining').includes(id))
    const serving = members.length === 0 || this.#random.chance(0.1) ? open : members
    if (serving.length === 0) return
    const { process } = this.#random.pick(serving)
    if (process === null || !(process.service instanceof MemberService)) return
    this.counts.asked += 1
    const under = { asked: process }
    this.#underWay.add(under)
    const { services } = process.service
    // Like every request of an operator. [src/api/serve-route.ts]
    const asked = process.node.readBarrier().then(() => requested(services))
    asked.then(
      () => {
        this.#underWay.delete(under)
        this.counts.allowed += 1
      },
      (error: unknown) => {
        this.#underWay.delete(under)
        this.counts.refused += 1
        scheduler.note(() => `no: ${String(error)}`)
        const isPlain =
          error instanceof Refusal || error instanceof Condition || error instanceof MembershipRefusedError
        if (!isPlain) scheduler.violate(`an operator gets ${String((error as Error).stack)}`)
      },
    )
  }

  #draw(): Requested | null {
    const { change } = this.#oracle.members
    if (change !== null && this.#random.chance(0.1))
      return (services) => cancelOperation(services, OWNER, { id: change })
    const voters = this.#named('active')
    const few = voters.length <= 2
    const many = voters.length >= VOTERS_MAX
    const kind = this.#random.pick([
      ...(many ? [] : ['join', 'join', 'join']),
      ...(few ? ['join'] : ['demote', 'demote']),
      'again',
      'replace',
      'replace',
      'remove',
      'remove',
      'lost',
      'lost',
      'transfer',
    ])
    return this.#requestOf(kind)
  }

  #requestOf(kind: string): Requested | null {
    if (kind === 'join') return this.#join()
    if (kind === 'again') return this.#again()
    const about = this.#somebody(kind)
    if (about === null) return null
    switch (kind) {
      case 'demote':
        return (services) => demoteVoter(services, OWNER, { nodeId: about, reason })
      case 'remove':
        return (services) => removeMember(services, OWNER, { nodeId: about, confirm: about, reason })
      case 'lost':
        return lost(about)
      case 'replace':
        return this.#replace(about)
      default:
        return (services) =>
          transferLeadership(services, OWNER, { nodeId: this.#random.chance(0.5) ? about : null, reason })
    }
  }

  /** A fitting node, or sometimes any node. */
  #somebody(kind: string): string | null {
    const suits: Readonly<Record<string, readonly MemberPhase[]>> = {
      remove: ['drained', 'lost'],
      lost: ['active', 'draining', 'drained'],
      // A machine for a member that was declared lost before it had one.
      replace: this.#random.chance(0.3) ? ['lost'] : ['active'],
    }
    const all = this.#oracle.members.members.map(({ nodeId }) => nodeId)
    if (all.length === 0) return null
    const named = this.#random.chance(0.1) ? all : this.#named(...(suits[kind] ?? ['active']))
    const silent = named.filter((name) =>
      this.#world.hosts.some(({ id, process }) => id === name && process === null),
    )
    const isDead = kind === 'lost' || (kind === 'replace' && this.#random.chance(0.7))
    if (kind === 'lost' && silent.length === 0 && this.#random.chance(0.8)) return null
    const chosen = isDead && silent.length > 0 ? silent : named
    return chosen.length === 0 ? null : this.#random.pick(chosen)
  }

  #join(): Requested | null {
    const fresh = this.#newMachine()
    return fresh === null ? null : (services) => joinVoter(services, OWNER, { ...placeOf(fresh), reason })
  }

  /** A node removed before it had a vote joins again, with its disk as it is; or the running join is requested once more. */
  #again(): Requested | null {
    const { members } = this.#oracle.members
    const isKnown = (id: string): boolean => members.some(({ nodeId }) => nodeId === id)
    const joining = this.#named('joining')
    const sent = this.#world.hosts.filter(
      ({ id, isInstalled, isLost }) => isInstalled && !isLost && !isKnown(id),
    )
    const names = [...joining, ...sent.filter(({ joins }) => joins).map(({ id }) => id)]
    if (names.length === 0) return null
    const name = this.#random.pick(names)
    return (services) => joinVoter(services, OWNER, { ...placeOf(name), reason })
  }

  #replace(nodeId: string): Requested | null {
    const fresh = this.#newMachine()
    if (fresh === null) return null
    const asked = { nodeId, confirm: nodeId, replacement: placeOf(fresh), reason }
    return (services) => replaceVoter(services, OWNER, asked)
  }

  /** One that waits; null while the next is set up. Sometimes a name that left, or is taken. */
  #newMachine(): string | null {
    const { hosts } = this.#world
    const { members, departed } = this.#oracle.members
    const used = new Set([...members, ...departed].map(({ nodeId }) => nodeId))
    if (this.#random.chance(0.05)) return this.#random.pick([...hosts]).id
    const backAgain = hosts.filter(({ id, joins }) => joins && departed.some(({ nodeId }) => nodeId === id))
    if (backAgain.length > 0 && this.#random.chance(0.15)) return this.#random.pick(backAgain).id
    const free = hosts.filter(({ id }) => !used.has(id))
    const waiting = free.find(({ isInstalled, isLost }) => isInstalled && !isLost)
    if (waiting === undefined) this.#setUp(free.find(({ isInstalled }) => !isInstalled))
    return waiting?.id ?? null
  }

  /** It starts with an empty disk and waits to join. */
  #setUp(host: SimHost | undefined): void {
    if (host === undefined) return
    const known = this.#oracle.members.members.map(({ nodeId }) => nodeId)
    host.configured = asConfigured(known.length === 0 ? this.#world.voters : known)
    host.joins = true
    host.isInstalled = true
    this.#world.startLater(host, 0)
  }

  #named(...phases: readonly MemberPhase[]): readonly string[] {
    return this.#oracle.members.members
      .filter(({ phase }) => phases.includes(phase))
      .map(({ nodeId }) => nodeId)
  }
}

function lost(nodeId: string): Requested {
  return (services) => markVoterLost(services, OWNER, { nodeId, confirm: nodeId, reason })
}
