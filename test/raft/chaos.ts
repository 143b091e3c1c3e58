/**
 * Anything may happen to a test network, in an order drawn from its seed.
 *
 * Owns: the faults and their frequency. Knows nothing of: what is correct; the checker does.
 */
import { membersOf } from '../../cluster/raft/configuration.ts'
import { check } from './checker.ts'
import { TestNetwork, xorshift } from './network.ts'
import type { DiskImage, TestNode } from './test-node.ts'
import type { Configuration, NodeId } from '../../cluster/raft/types.ts'

const MESSAGES_MAX = 200
const VOTERS_MAX = 5

export class Chaos {
  readonly network: TestNetwork
  readonly #ids: readonly NodeId[]
  readonly #events: readonly (readonly [weight: number, happens: () => void])[]
  readonly #weightSum: number
  readonly #configureRate: number
  #slow: NodeId | null = null
  readonly #images = new Map<NodeId, DiskImage>()
  /** The last member whose disk was replaced by an older copy. */
  #forgetful: NodeId | null = null

  /** With `spares` the members of the group change as well; with `disksForget` one disk at a time may be an older copy of itself. */
  constructor(
    configuration: Configuration,
    seed: number,
    spares: readonly NodeId[] = [],
    disksForget = false,
  ) {
    const draw = xorshift(seed)
    const one = <T>(...choices: readonly [T, ...T[]]): T => choices[draw() % choices.length] ?? choices[0]
    // Each seed has its own limits and its own mix of faults: rare combinations need some faults to stay away.
    const limits = { messageBytesMax: one(1, 24, 64), inflightMessagesMax: one(1, 2, 4) }
    const electionTicks = one(3, 5, 8)
    this.network = new TestNetwork(configuration, { seed, electionTicks, spares, limits, disksForget })
    this.#ids = [...this.network.nodes.keys()]
    this.#configureRate = spares.length > 0 ? one(4, 16) : 0
    const rate = (weight: number): number => weight * one(0, 1, 4)
    this.#events = [
      [480, () => this.#deliver()],
      [200, () => this.#work()],
      [130, () => this.#tick()],
      [one(30, 90), () => this.network.propose(this.#likelyLeader(), 4 + this.#below(40))],
      [40, () => this.network.read(this.#below(2) === 0 ? this.#anyId() : this.#likelyLeader())],
      [30, () => this.#restart()],
      [10, () => this.#compact()],
      [rate(10), () => this.#takeMessage()],
      [rate(3), () => this.#crash()],
      [rate(4), () => this.#partition()],
      [rate(3), () => this.#coup()],
      [rate(1), () => this.#usurp()],
      [rate(3), () => this.#nudge()],
      [rate(3), () => this.#slowDown()],
      [this.#configureRate, () => this.#configure()],
      ...(disksForget ? this.#forgetting(rate) : []),
    ]
    this.#weightSum = this.#events.reduce((sum, [weight]) => sum + weight, 0)
  }

  /** Faults during this number of events; every event is checked. */
  run(events: number): void {
    for (let i = 0; i < events; i += 1) {
      this.#event()
      if (i % 40 === 0) this.network.checker.compareLogs()
      while (this.network.messages.length > MESSAGES_MAX) this.#takeMessage()
    }
    this.network.checker.compareLogs()
  }

  /** Faults end: the group must elect, commit and read within a bound, and end up equal. */
  recover(): void {
    const { network } = this
    network.heal()
    this.#slow = null
    for (const node of network.nodes.values()) if (node.raft === null) network.restart(node.id)
    network.tickAll(20 * network.electionTicks)
    const [leader] = network.leaders()
    check(
      leader !== undefined && network.leaders().length === 1,
      `there is one leader, not ${network.leaders().length}`,
    )
    const { configuration } = network.status(leader)
    check(configuration.voters.includes(leader), 'the leader is a voter')
    check(configuration.outgoing.length === 0, 'a healthy group leaves a joint configuration')
    const before = network.checker.committedIndex
    network.propose(leader)
    const members = membersOf(configuration)
    for (const id of members) network.read(id)
    network.settle()
    check(network.checker.committedIndex === before + 1, 'a healthy group commits at once')
    check(network.checker.openReads === 0, `${network.checker.openReads} reads were never answered`)
    const states = new Set(members.map((id) => network.node(id).machine.keys.join()))
    check(states.size === 1, 'a healthy group ends up with equal states')
    network.checker.compareLogs()
  }

  #forgetting(rate: (weight: number) => number): readonly (readonly [weight: number, happens: () => void])[] {
    return [
      [10, () => this.#copyDisk()],
      [2 + rate(2), () => this.#putBack()],
      [rate(2), () => this.#cutPower()],
      [30, () => this.network.register(this.#anyId(), this.#likelyLeader())],
    ]
  }

  #copyDisk(): void {
    const node = this.#anyNode()
    this.#images.set(node.id, node.image())
  }

  /** At most one voter may have forgotten something at a time: more is not promised. */
  #putBack(): void {
    const node = this.#anyNode()
    const image = this.#images.get(node.id)
    const mayForget = this.#forgetful === null || this.network.node(this.#forgetful).trust === 'proved'
    if (image === undefined || !mayForget || this.#isAnyAlone(image)) return
    if (node.raft !== null) this.network.crash(node.id)
    node.restore(image)
    this.network.checker.restored(node)
    node.trust = this.#below(3) === 0 ? 'rolledBack' : 'suspect'
    this.#forgetful = node.id
    this.#images.delete(node.id)
  }

  /** No other member remembers what a single voter decided, in a group or in half of one. */
  #isAnyAlone({ machine }: DiskImage): boolean {
    const known = [...this.network.nodes.values()].flatMap((node) => node.configurations)
    const all = [machine.configuration, ...known]
    return all.some(({ voters, outgoing }) => voters.length === 1 || outgoing.length === 1)
  }

  /** Nothing is forgotten, and no member can prove it. */
  #cutPower(): void {
    const node = this.#anyNode()
    if (node.raft !== null) this.network.crash(node.id, this.#below(node.walQueue.length + 1))
    if (node.trust === 'proved') node.trust = 'suspect'
  }

  #event(): void {
    let dice = this.#below(this.#weightSum)
    for (const [weight, happens] of this.#events) {
      if (dice < weight) {
        happens()
        return
      }
      dice -= weight
    }
  }

  #deliver(): void {
    const message = this.#takeMessage()
    if (message === undefined) return
    // One in sixteen arrives twice, the second time at any later moment.
    if (this.#below(16) === 0) this.network.messages.push(message)
    this.network.deliver(message)
  }

  /** Mostly the oldest message, sometimes any: order is likely and never promised. */
  #takeMessage() {
    const { messages } = this.network
    const at = this.#below(4) === 0 ? this.#below(messages.length) : 0
    return messages.splice(at, 1)[0]
  }

  #work(): void {
    const node = this.#anyNode()
    if (node.raft === null) return
    if (node.readQueue.length > 0 && this.#below(2) === 0) this.network.finishLogRead(node.id)
    else if (node.fetch !== null && this.#below(3) === 0) this.network.finishFetch(node.id)
    else if (node.walQueue.length > 0 && this.#below(3) > 0) this.network.confirmWal(node.id)
    else if (node.applyQueue.length > 0) this.network.apply(node.id)
  }

  #restart(): void {
    const down = [...this.network.nodes.values()].find((node) => node.raft === null)
    if (down !== undefined) this.network.restart(down.id)
  }

  #crash(): void {
    const node = this.#anyNode()
    if (node.raft !== null) this.network.crash(node.id, this.#below(node.walQueue.length + 1))
  }

  #tick(): void {
    const id = this.#anyId()
    if (id !== this.#slow) this.network.input(id, { type: 'tick' }, this.#crashPoint())
  }

  /** One vote moves, or many; a voter becomes a learner, another node a voter. Changes that the log does not allow are refused. */
  #configure(leader = this.#likelyLeader()): void {
    const shuffled = [...this.#ids]
    for (let i = shuffled.length - 1; i > 0; i -= 1) {
      const j = this.#below(i + 1)
      const [a, b] = [shuffled[i] ?? '', shuffled[j] ?? '']
      shuffled[i] = b
      shuffled[j] = a
    }
    const { raft } = this.network.node(leader)
    if (raft === null) return
    const { voters } = raft.status().configuration
    const [one = ''] = shuffled
    const moved = voters.includes(one)
      ? voters.filter((id) => id !== one)
      : [...voters, one].slice(-VOTERS_MAX)
    const many = shuffled.slice(0, 1 + this.#below(VOTERS_MAX))
    const target = this.#below(2) === 0 ? moved : many
    const learners = shuffled.filter((id) => !target.includes(id)).slice(0, this.#below(3))
    this.network.configure(leader, { voters: target, learners })
  }

  /** A clock stops, preferably a leader's: that leader does not notice that its term is over. */
  #slowDown(): void {
    this.#slow = this.#below(2) === 0 ? null : this.#likelyLeader()
  }

  /** Rarely a process dies between two effects of one step. */
  #crashPoint(): number {
    return this.#below(60) === 0 ? this.#below(4) : Number.POSITIVE_INFINITY
  }

  #partition(): void {
    const kind = this.#below(6)
    if (kind === 0) this.network.isolate(this.#likelyLeader())
    else if (kind === 1) this.network.cut(this.#anyId(), this.#anyId())
    else if (kind === 2) this.#divide()
    else this.network.heal()
  }

  /** Two groups that receive nothing from each other; with even odds the leader keeps one follower. */
  #divide(): void {
    const pair = [this.#likelyLeader(), this.#anyId()]
    this.#separate(this.#below(2) === 0 ? pair : this.#ids.filter(() => this.#below(2) === 0))
  }

  #separate(left: readonly NodeId[]): void {
    this.network.heal()
    for (const a of left) {
      for (const b of this.#ids) {
        if (left.includes(b)) continue
        this.network.cut(a, b)
        this.network.cut(b, a)
      }
    }
  }

  /** Every node but the leader times out, one a little sooner. */
  #coup(): void {
    const { electionTicks } = this.network
    const leader = this.#likelyLeader()
    const first = this.#anyId()
    if (this.#below(2) === 0) this.network.isolate(leader)
    for (const id of this.#ids) {
      const ticks = id === first ? 2 * electionTicks : electionTicks
      for (let i = 0; i < ticks && id !== leader; i += 1) this.network.input(id, { type: 'tick' })
    }
  }

  /** A leader is cut off with a follower or none while the others continue without it; then its side is asked. */
  #usurp(): void {
    const leader = this.#likelyLeader()
    const minority = [leader, ...(this.#below(2) === 0 ? [this.#anyId()] : [])]
    this.#requested(leader)
    this.#separate(minority)
    this.#pass(this.#below(12))
    for (const id of this.#ids) {
      for (let i = 0; i < 2 * this.network.electionTicks && !minority.includes(id); i += 1)
        this.network.input(id, { type: 'tick' }, i === 0 ? this.#crashPoint() : Number.POSITIVE_INFINITY)
    }
    const hasHeir = (): boolean => this.network.leaders().some((id) => !minority.includes(id))
    for (let i = 0; i < 60 && !hasHeir(); i += 1) this.#pass(1)
    this.#requested(this.network.leaders().at(-1) ?? leader)
    this.#pass(this.#below(40))
    for (const id of minority) this.network.read(id)
    this.#pass(this.#below(20))
    if (this.#below(2) === 0) this.network.heal()
  }

  /** A write for a leader: a command, or a change of the members. */
  #requested(leader: NodeId): void {
    if (this.#below(2) === 0 && this.#configureRate > 0) this.#configure(leader)
    else this.network.propose(leader, 4)
  }

  #pass(events: number): void {
    for (let i = 0; i < events; i += 1) {
      this.#deliver()
      this.#work()
    }
  }

  #compact(): void {
    const node = this.#anyNode()
    if (node.raft === null) return
    const { appliedIndex, base } = node.raft.status()
    this.network.compact(node.id, base.index + this.#below(appliedIndex - base.index + 1))
  }

  #nudge(): void {
    const kind = this.#below(4)
    if (kind === 0) this.network.input(this.#anyId(), { type: 'tickGap' })
    else if (kind === 1) this.network.input(this.#anyId(), { type: 'peerUnreachable', peer: this.#anyId() })
    else
      this.network.input(this.#likelyLeader(), {
        type: 'transferLeadership',
        target: kind === 2 ? this.#anyId() : null,
      })
  }

  #likelyLeader(): NodeId {
    return this.network.leaders().at(-1 - this.#below(2)) ?? this.#anyId()
  }

  #anyId(): NodeId {
    return this.#ids[this.#below(this.#ids.length)] ?? ''
  }

  #anyNode(): TestNode {
    return this.network.node(this.#anyId())
  }

  #below(bound: number): number {
    return bound === 0 ? 0 : this.network.random() % bound
  }
}
