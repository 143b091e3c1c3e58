/**
 * A group of members on one bench: every message, disk write and apply waits until the test lets it happen.
 *
 * Owns: what is under way between members. Knows nothing of: wall clocks, real randomness.
 * Two ways to run it: settle() does everything in order until nothing is left; chaos.ts picks at random.
 */
import { Checker, check } from './checker.ts'
import { membersOf } from '../../cluster/raft/configuration.ts'
import { LogImage, TestNode } from './test-node.ts'
import type {
  Configuration,
  Effect,
  Entry,
  Input,
  LogIndex,
  Message,
  NodeId,
  RaftLimits,
  RaftOptions,
  RaftStatus,
  Term,
} from '../../cluster/raft/types.ts'

export const LIMITS: RaftLimits = {
  entryBytesMax: 64,
  messageBytesMax: 64,
  inflightMessagesMax: 4,
  inflightBytesMax: 256,
  uncommittedBytesMax: 1024,
  windowBytesMax: 1_048_576,
  windowEntriesMax: 65_536,
}

/** Most of a log is only in the segments, as in a group with a long log. */
const SMALL_WINDOW = { windowBytesMax: 96, windowEntriesMax: 6 }

interface NetworkOptions {
  readonly seed?: number
  readonly electionTicks?: number
  /** Nodes that exist and are not members yet. */
  readonly spares?: readonly NodeId[]
  readonly limits?: Partial<RaftLimits>
  /** Disks lose what they confirmed, or messages are forged: members may doubt each other. */
  readonly disksForget?: boolean
}

export class TestNetwork {
  readonly nodes: ReadonlyMap<NodeId, TestNode>
  readonly checker: Checker
  readonly random: () => number
  /** Messages that were sent and have not arrived, oldest first. */
  messages: Message[] = []
  /** Effects other than sends and writes, per member, since the last takeEffects(). */
  #effects = new Map<NodeId, Effect[]>()
  #cuts = new Set<string>()
  readonly #options: Required<Omit<NetworkOptions, 'seed' | 'spares'>>
  #nextId = 1

  constructor(configuration: Configuration, options: NetworkOptions = {}) {
    this.random = xorshift(options.seed ?? 1)
    const { electionTicks = 10, limits = {}, disksForget = false } = options
    this.#options = { electionTicks, limits, disksForget }
    const ids = [...membersOf(configuration), ...(options.spares ?? [])]
    this.nodes = new Map(ids.map((id) => [id, new TestNode(id, configuration)]))
    this.checker = new Checker(this.nodes)
    for (const node of this.nodes.values()) this.restart(node.id)
  }

  get electionTicks(): number {
    return this.#options.electionTicks
  }

  node(id: NodeId): TestNode {
    const node = this.nodes.get(id)
    check(node !== undefined, `there is no ${id}`)
    return node
  }

  status(id: NodeId): RaftStatus {
    const { raft } = this.node(id)
    check(raft !== null, `${id} is down`)
    return raft.status()
  }

  /** Members that believe to lead, newest term last. */
  leaders(): readonly NodeId[] {
    const statuses = [...this.nodes.values()].flatMap((node) =>
      node.raft === null ? [] : [node.raft.status()],
    )
    return statuses
      .filter((status) => status.role === 'leader')
      .sort((a, b) => a.term - b.term)
      .map((status) => status.nodeId)
  }

  // --- One thing at a time -------------------------------------------------------------------

  /** `crashAfter`: the process dies when it has started this number of the effects. */
  input(id: NodeId, input: Input, crashAfter = Number.POSITIVE_INFINITY): readonly Effect[] {
    const node = this.node(id)
    if (node.raft === null) return []
    const effects = node.raft.step(input)
    this.checker.committing(node)
    for (const effect of effects.slice(0, crashAfter)) this.#perform(node, effect)
    this.checker.stepped(node)
    if (effects.length > crashAfter) this.crash(id, node.walQueue.length)
    return effects
  }

  deliver(message: Message): void {
    if (this.isCut(message.from, message.to) || !this.nodes.has(message.to)) return
    this.input(message.to, { type: 'message', message })
  }

  confirmWal(id: NodeId): void {
    this.input(id, { type: 'walDone', sequence: this.node(id).confirmWal() })
  }

  apply(id: NodeId): void {
    this.input(id, { type: 'applied', index: this.node(id).apply() })
    this.#proveDisk(id)
  }

  #proveDisk(id: NodeId): void {
    const node = this.node(id)
    if (!node.isNewlyProved) return
    node.trust = 'proved'
    this.input(id, { type: 'diskProved' })
  }

  /** Answers the oldest read of the segments with the entries that they hold now. */
  finishLogRead(id: NodeId): void {
    const node = this.node(id)
    const read = node.readQueue.shift()
    if (read === undefined) return
    const { readId, from, through } = read
    const entries: Entry[] = []
    for (let index = from; index <= through; index += 1) {
      const entry = node.disk.entryAt(index)
      if (entry === null) break
      entries.push(entry)
    }
    this.input(id, { type: 'logRead', readId, entries: entries.length > 0 ? entries : null })
  }

  /** The pull ends, well or badly. */
  finishFetch(id: NodeId): void {
    const node = this.node(id)
    const { fetch } = node
    if (fetch === null) return
    while (node.applyQueue.length > 0) this.apply(id)
    node.fetch = null
    const source = this.node(fetch.from)
    const canPull = source.raft !== null && !this.isCut(id, fetch.from) && !this.isCut(fetch.from, id)
    if (!canPull || source.machine.index < fetch.atLeast.index) {
      this.input(id, { type: 'snapshotFailed' })
      return
    }
    const { index, term, configuration, configurationIndex } = source.machine
    node.machine = { ...source.machine, keys: [...source.machine.keys] }
    node.handedIndex = index
    this.input(id, { type: 'snapshotInstalled', base: { index, term }, configuration, configurationIndex })
    this.#proveDisk(id)
  }

  crash(id: NodeId, survivors = 0): void {
    const node = this.node(id)
    node.crash(survivors)
    this.checker.crashed(node)
  }

  restart(id: NodeId): void {
    const node = this.node(id)
    const { electionTicks, limits } = this.#options
    // Every process has its own stream of randomness.
    const random = xorshift(this.random())
    const options: RaftOptions = {
      nodeId: id,
      electionTicks,
      random,
      limits: { ...LIMITS, ...SMALL_WINDOW, ...limits },
    }
    node.registration = node.trust === 'proved' ? null : this.#nameOfProcess()
    node.start(options)
  }

  compact(id: NodeId, index: LogIndex): void {
    const node = this.node(id)
    this.input(id, { type: 'compact', index })
    node.log.compact(index)
    // A write under way may still replace what the disk holds below the index.
    if (node.walQueue.length === 0) node.disk.compact(index)
  }

  // --- Partitions ----------------------------------------------------------------------------

  /** One way only. */
  cut(from: NodeId, to: NodeId): void {
    this.#cuts.add(`${from}>${to}`)
  }

  isolate(id: NodeId): void {
    for (const other of this.nodes.keys()) {
      if (other !== id) this.#cuts.add(`${id}>${other}`).add(`${other}>${id}`)
    }
  }

  heal(): void {
    this.#cuts.clear()
  }

  isCut(from: NodeId, to: NodeId): boolean {
    return this.#cuts.has(`${from}>${to}`)
  }

  // --- Everything in order -------------------------------------------------------------------

  settle(): void {
    for (let rounds = 0; this.#runPending(); rounds += 1)
      check(rounds < 10_000, 'the group never comes to rest')
  }

  /** Every member ticks, then everything settles; `times` over. */
  tickAll(times = 1): void {
    for (let i = 0; i < times; i += 1) {
      for (const id of this.nodes.keys()) this.input(id, { type: 'tick' })
      this.settle()
    }
  }

  /** Lets time pass only for this member until it leads. */
  elect(id: NodeId): Term {
    const ticksMax = 20 * this.electionTicks
    for (let i = 0; i < ticksMax && this.status(id).role !== 'leader'; i += 1) {
      // The others no longer receive from their leader, and do not campaign.
      for (const other of this.nodes.keys())
        if (other === id || i % 4 === 0) this.input(other, { type: 'tick' })
      this.settle()
    }
    check(this.status(id).role === 'leader', `${id} was not elected`)
    return this.status(id).term
  }

  /** The process asks a leader to make an entry with its name. */
  register(id: NodeId, leader: NodeId): void {
    const { registration } = this.node(id)
    if (registration === null) return
    this.input(leader, { type: 'propose', proposalId: this.#nextId++, data: registration })
  }

  /** Unlike any other command. */
  #nameOfProcess(): Uint8Array {
    const data = new Uint8Array(5)
    new DataView(data.buffer).setUint32(1, this.#nextId++)
    data[0] = 255
    return data
  }

  propose(id: NodeId, bytes = 4): readonly Effect[] {
    const proposalId = this.#nextId++
    const data = new Uint8Array(bytes)
    if (bytes >= 4) new DataView(data.buffer).setUint32(0, proposalId)
    return this.input(id, { type: 'propose', proposalId, data })
  }

  configure(
    id: NodeId,
    target: { readonly voters: readonly NodeId[]; readonly learners?: readonly NodeId[] },
    expectedIndex: LogIndex | null = null,
  ): readonly Effect[] {
    const configuration = { voters: target.voters, learners: target.learners ?? [] }
    const proposalId = this.#nextId++
    return this.input(id, { type: 'changeConfiguration', proposalId, configuration, expectedIndex })
  }

  read(id: NodeId): number {
    const readId = this.#nextId++
    const node = this.node(id)
    if (node.raft === null) return readId
    this.checker.readBegins(node, readId)
    this.input(id, { type: 'read', readId })
    return readId
  }

  takeEffects(id: NodeId): readonly Effect[] {
    const effects = this.#effects.get(id) ?? []
    this.#effects.set(id, [])
    return effects
  }

  #runPending(): boolean {
    let hasRun = false
    for (const message of this.messages.splice(0)) {
      this.deliver(message)
      hasRun = true
    }
    for (const [id, node] of this.nodes) {
      const hasWork =
        (!node.isDiskSlow && node.walQueue.length > 0) ||
        node.readQueue.length > 0 ||
        node.applyQueue.length > 0 ||
        node.fetch !== null
      while (!node.isDiskSlow && node.walQueue.length > 0) this.confirmWal(id)
      while (node.readQueue.length > 0) this.finishLogRead(id)
      while (node.applyQueue.length > 0) this.apply(id)
      if (node.fetch !== null) this.finishFetch(id)
      hasRun = hasRun || hasWork
    }
    return hasRun
  }

  #perform(node: TestNode, effect: Effect): void {
    switch (effect.type) {
      case 'appendWal':
        check(effect.sequence > (node.walQueue.at(-1)?.sequence ?? 0), 'sequences rise')
        node.walQueue.push(effect)
        node.log.write(effect)
        return
      case 'send':
        this.checker.leaving(node, effect.message)
        this.messages.push(effect.message)
        return
      case 'apply':
        this.checker.handedOut(node, effect.entries)
        node.applyQueue.push(effect.entries)
        break
      case 'fetchSnapshot':
        check(node.fetch === null, 'one pull at a time')
        node.fetch = effect
        break
      case 'readLog':
        node.readQueue.push(effect)
        return
      case 'readReady':
        this.checker.readEnds(node, effect.readId, effect.index)
        break
      case 'readRefused':
        this.checker.readEnds(node, effect.readId, null)
        break
      case 'roleChanged':
        if (effect.role === 'leader') this.checker.becameLeader(node, effect.term)
        break
      case 'peerDoubted':
      case 'peerForgot':
        check(this.#options.disksForget, `${node.id} has no reason to doubt ${effect.peer}`)
        break
      default:
    }
    const effects = this.#effects.get(node.id) ?? []
    effects.push(effect)
    this.#effects.set(node.id, effects)
  }
}

export function configurationOf(...voters: readonly NodeId[]): Configuration {
  return { voters, learners: [], outgoing: [] }
}

/** A log image of commands with these terms, from index 1 on. */
export function logOfTerms(...terms: readonly Term[]): Entry[] {
  return terms.map((term, i) => ({ index: i + 1, term, kind: 'command', data: Uint8Array.of(term, i) }))
}

/** Gives a member that is down an earlier copy of its disk. */
export function plantLog(
  network: TestNetwork,
  id: NodeId,
  terms: readonly Term[],
  currentTerm = terms.at(-1) ?? 0,
): void {
  const node = network.node(id)
  if (node.raft !== null) network.crash(id)
  node.disk = new LogImage()
  node.disk.write({ hardState: { currentTerm, votedFor: null }, base: null, entries: logOfTerms(...terms) })
  network.restart(id)
}

/** Marsaglia's xorshift32: small, seeded, and the same everywhere. */
export function xorshift(seed: number): () => number {
  let state = (seed >>> 0) + 0x9e3779b9
  const next = (): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state >>> 0
  }
  for (let i = 0; i < 8; i += 1) next()
  return next
}
