/**
 * Several nodes in a virtual world: disks, states, network and time are objects of the test.
 *
 * Owns: starting, crashing and healing. Knows nothing of: what is to be proven.
 * Rule: everything follows from the seed; a run can be repeated.
 */
import assert from 'node:assert/strict'
import { SILENT } from './loggers.ts'
import {
  decodeMachineRecord,
  encodeMachineRecord,
  type MachineRecord,
} from '../../cluster/node/machine-record.ts'
import { Node } from '../../cluster/node/node.ts'
import type { NodeOptions } from '../../cluster/node/options.ts'
import { LoopbackNetwork, type LoopbackTransport } from '../../cluster/transport/loopback-transport.ts'
import { MemoryDisk, MemoryWal } from '../../cluster/wal/memory-wal.ts'
import type { WalBatch, WalContent, WalEvents } from '../../cluster/wal/wal.ts'
import { VirtualClock } from '../sim/virtual-clock.ts'
import { MemoryState, MemoryStateMachine, command, textOf } from './memory-state-machine.ts'

export const HEARTBEAT_MS = 50
export const ELECTION_TIMEOUT_MS = 500

/** Deterministic, unsigned 32 bits. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x9e3779b9) >>> 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return (mixed ^ (mixed >>> 15)) >>> 0
  }
}

export interface WorldOptions {
  readonly seed?: number
  readonly nodeIds?: readonly string[]
  readonly node?: Partial<NodeOptions>
  readonly maxDelayMs?: number
}

/** What runs on a seat between two crashes. */
interface Process {
  readonly node: Node
  readonly wal: TappedWal
  readonly machine: MemoryStateMachine
  readonly transport: LoopbackTransport
}

/** What survives a crash. */
interface Seat {
  disk: MemoryDisk
  state: MemoryState
  incarnation: string
  boot: number
  process: Process | null
  /** How long a flush of the log and a batch of the state take; null: a few ms. */
  flushMs: number | null
  applyMs: number | null
}

export interface Backup {
  readonly log: Omit<WalBatch, 'sequence'>
  readonly state: MemoryState['current']
  readonly boot: number
}

/** Through which a test can say what only a real disk would. */
class TappedWal extends MemoryWal {
  events: WalEvents | null = null

  override open(events: WalEvents): Promise<WalContent> {
    this.events = events
    return super.open(events)
  }
}

export class NodeWorld {
  readonly clock = new VirtualClock()
  readonly network: LoopbackNetwork
  readonly random: () => number
  readonly nodeIds: readonly string[]
  readonly #options: WorldOptions
  readonly #seats = new Map<string, Seat>()

  constructor(options: WorldOptions = {}) {
    const seed = options.seed ?? 1
    this.#options = options
    this.random = seeded(seed)
    this.nodeIds = options.nodeIds ?? ['n1', 'n2', 'n3']
    this.network = new LoopbackNetwork({
      clock: this.clock,
      random: seeded(seed + 1),
      maxDelayMs: options.maxDelayMs ?? 1,
    })
    for (const nodeId of this.nodeIds) this.#seats.set(nodeId, newSeat(nodeId, 0))
  }

  static async started(options: WorldOptions = {}): Promise<NodeWorld> {
    const world = new NodeWorld(options)
    for (const nodeId of world.nodeIds) await world.start(nodeId)
    await world.untilReady()
    await world.untilRegistered()
    return world
  }

  /** A new process over whatever the seat's disk and state hold. */
  async start(nodeId: string): Promise<Node> {
    const seat = this.#seat(nodeId)
    assert(seat.process === null, `${nodeId} runs already`)
    seat.boot += 1
    const { disk, state, incarnation, boot } = seat
    const wal = new TappedWal({
      disk,
      clock: this.clock,
      flushMs: () => seat.flushMs ?? 1 + (this.random() % 3),
    })
    const machine = new MemoryStateMachine(state, {
      flush: () => this.#wait(seat.applyMs ?? this.random() % 3),
    })
    const transport = this.network.transport(nodeId, {
      incarnation,
      standing: () => node.standing(),
      judge: (claims) => node.judge(claims),
    })
    const node: Node = new Node(
      {
        nodeId,
        clusterId: 'test',
        incarnation,
        boot,
        initialConfiguration: { voters: this.nodeIds, learners: [], outgoing: [] },
        heartbeatMs: HEARTBEAT_MS,
        electionTimeoutMs: ELECTION_TIMEOUT_MS,
        logKeepEntries: 10_000,
        logKeepBytes: 16 * 1024 * 1024,
        random: seeded(this.random()),
        ...this.#options.node,
      },
      { clock: this.clock, wal, transport, stateMachine: machine, logger: SILENT },
    )
    seat.process = { node, wal, machine, transport }
    await this.clock.resolve(
      (async () => {
        await node.open()
        await node.start()
      })(),
      { limitMs: 1_000 },
    )
    return node
  }

  /** Power cut: what was not flushed is gone, but `survivors` writes reached the disk unacknowledged. */
  crash(nodeId: string, survivors = 0): void {
    const seat = this.#seat(nodeId)
    assert(seat.process !== null, `${nodeId} does not run`)
    const { node, wal, machine, transport } = seat.process
    seat.process = null
    wal.crash(survivors)
    machine.crash()
    node.fail(new Error('power cut'))
    void transport.stop()
  }

  async restart(nodeId: string): Promise<Node> {
    this.crash(nodeId)
    return this.start(nodeId)
  }

  async stop(nodeId: string): Promise<void> {
    const { node } = this.process(nodeId)
    await this.clock.resolve(node.stop(), { limitMs: 60_000 })
    this.#seat(nodeId).process = null
  }

  async stopAll(): Promise<void> {
    for (const nodeId of this.running) this.crash(nodeId)
    await this.clock.settle()
  }

  /** The data directory is gone; somebody starts the node with an empty one. */
  wipe(nodeId: string): void {
    const { boot } = this.#seat(nodeId)
    this.#seats.set(nodeId, newSeat(nodeId, boot + 1))
  }

  /** What a copy of the data directory would hold now. */
  backup(nodeId: string): Backup {
    const { disk, state, boot } = this.#seat(nodeId)
    const { hardState, base, entries } = disk.image.content
    return { log: { hardState, base, entries: [...entries] }, state: state.current, boot }
  }

  /** The data directory is an older copy of itself. The node must not run. */
  restore(nodeId: string, { log, state, boot }: Backup): void {
    const seat = this.#stoppedSeat(nodeId)
    seat.disk = new MemoryDisk()
    seat.disk.image.apply(log)
    seat.state = new MemoryState()
    seat.state.current = state
    seat.boot = boot
  }

  /** Rewrites the machine's own record in the state. The node must not run. */
  changeRecord(nodeId: string, changes: Partial<MachineRecord>): void {
    const { state } = this.#stoppedSeat(nodeId)
    assert(state.current.record !== null, 'there is a record to be changed')
    const record = encodeMachineRecord({ ...decodeMachineRecord(state.current.record), ...changes })
    state.current = { ...state.current, record }
  }

  /** From the next one on, a flush of the log takes so long; null: as ever. */
  slowLog(nodeId: string, flushMs: number | null): void {
    this.#seat(nodeId).flushMs = flushMs
  }

  /** From the next one on, a batch of the state takes so long; null: as ever. */
  slowState(nodeId: string, applyMs: number | null): void {
    this.#seat(nodeId).applyMs = applyMs
  }

  fillDisk(nodeId: string): void {
    this.process(nodeId).wal.events?.onDiskFull()
  }

  /** The state directory is gone. The node must not run. */
  loseState(nodeId: string): void {
    this.#stoppedSeat(nodeId).state = new MemoryState()
  }

  /** What the state holds now; `setStateBack` brings it back, as if the last writes had never reached the disk. */
  stateNow(nodeId: string): MemoryState['current'] {
    return this.#seat(nodeId).state.current
  }

  setStateBack(nodeId: string, earlier: MemoryState['current']): void {
    this.#stoppedSeat(nodeId).state.current = earlier
  }

  /** One row is not what was written, which whoever reads it can tell. */
  damageState(nodeId: string): void {
    const { state } = this.#seat(nodeId)
    const checksum = Buffer.from(new MemoryStateMachine(state).checksum()).toString('hex')
    state.current = { ...state.current, texts: flipped(state.current.texts), checksum }
  }

  /** One row is another than on the other nodes, and nothing here can tell: apply itself went wrong. */
  divergeState(nodeId: string): void {
    const { state } = this.#seat(nodeId)
    state.current = { ...state.current, texts: flipped(state.current.texts) }
  }

  /** The bytes of one entry on the disk are damaged; with `keepsTerm`, its header is whole. The node must not run. */
  damageLog(nodeId: string, index: number, { keepsTerm = true } = {}): void {
    const { disk } = this.#stoppedSeat(nodeId)
    const lost = disk.image.content.entries.find((entry) => entry.index === index)
    assert(lost !== undefined, `entry ${index} is in the log of ${nodeId}`)
    disk.holes.push({ index, term: keepsTerm ? lost.term : null })
  }

  get running(): readonly string[] {
    return this.nodeIds.filter((nodeId) => this.#seat(nodeId).process !== null)
  }

  /** Those that take part: neither mending nor failed. */
  get serving(): readonly string[] {
    return this.running.filter((nodeId) => !this.node(nodeId).isMending)
  }

  disk(nodeId: string): MemoryDisk {
    return this.#seat(nodeId).disk
  }

  state(nodeId: string): MemoryState {
    return this.#seat(nodeId).state
  }

  process(nodeId: string): Process {
    const { process } = this.#seat(nodeId)
    assert(process !== null, `${nodeId} runs`)
    return process
  }

  node(nodeId: string): Node {
    return this.process(nodeId).node
  }

  texts(nodeId: string): readonly string[] {
    return this.process(nodeId).machine.texts
  }

  metric(nodeId: string, name: string): number {
    const sample = this.node(nodeId)
      .metrics()
      .find((row) => row.name === `holdfast_raft_${name}`)
    assert(sample !== undefined, `${nodeId} measures ${name}`)
    return sample.value
  }

  /** The node that leads in the highest term, as far as it knows itself. */
  get leader(): string | null {
    const leaders = this.serving.filter((nodeId) => this.node(nodeId).status().role === 'leader')
    leaders.sort((a, b) => this.node(b).status().term - this.node(a).status().term)
    return leaders[0] ?? null
  }

  get followers(): readonly string[] {
    return this.serving.filter((nodeId) => nodeId !== this.leader)
  }

  leaderOrDie(): string {
    const { leader } = this
    assert(leader !== null, 'there is a leader')
    return leader
  }

  append(nodeId: string, text: string): Promise<number> {
    return this.node(nodeId)
      .propose(command(`append ${text}`))
      .then((reply) => Number(textOf(reply)))
  }

  /** Moves time until the promise has settled. */
  run<T>(promise: Promise<T>, limitMs = 30_000): Promise<T> {
    return this.clock.resolve(promise, { limitMs })
  }

  untilReady(limitMs = 30_000): Promise<void> {
    const isReady = (): boolean => this.running.every((nodeId) => this.node(nodeId).readiness().ready)
    return this.clock.runUntil(isReady, { limitMs })
  }

  /** Every running node knows which data directory, and which process on it, every running name belongs to. */
  untilRegistered(): Promise<void> {
    const isKnownAt = (nodeId: string, name: string): boolean => {
      const { incarnation, boot } = this.#seat(name)
      const registered = this.node(nodeId).registered(name)
      return registered?.incarnation === incarnation && registered.boot === boot
    }
    const isKnown = (name: string): boolean => this.running.every((nodeId) => isKnownAt(nodeId, name))
    return this.clock.runUntil(() => this.running.every(isKnown), { limitMs: 30_000 })
  }

  /** Everybody who runs has applied the same, and nothing is under way. */
  untilEqual(limitMs = 60_000): Promise<void> {
    const isEqual = (): boolean => {
      if (this.serving.length < this.running.length) return false
      const statuses = this.running.map((nodeId) => this.node(nodeId).status())
      const leader = statuses.find(({ role }) => role === 'leader')
      return leader !== undefined && statuses.every(({ appliedIndex }) => appliedIndex === leader.lastIndex)
    }
    return this.clock.runUntil(isEqual, { limitMs })
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.clock.after(ms, resolve))
  }

  #stoppedSeat(nodeId: string): Seat {
    const seat = this.#seat(nodeId)
    assert(seat.process === null, `${nodeId} does not run`)
    return seat
  }

  #seat(nodeId: string): Seat {
    const seat = this.#seats.get(nodeId)
    assert(seat !== undefined, `${nodeId} is a member`)
    return seat
  }
}

function flipped(texts: readonly string[]): readonly string[] {
  assert(texts.length > 0, 'there is a row to be damaged')
  return [`${texts[0]}?`, ...texts.slice(1)]
}

function newSeat(nodeId: string, generation: number): Seat {
  return {
    disk: new MemoryDisk(),
    state: new MemoryState(),
    incarnation: `${nodeId}-${generation}`,
    boot: 0,
    process: null,
    flushMs: null,
    applyMs: null,
  }
}
