/**
 * Several nodes in a virtual world: disks, states, network and time are objects of the test.
 *
 * Owns: starting, crashing and healing. Knows nothing of: what a test proves.
 * Rule: everything follows from the seed; a run can be repeated.
 */
import assert from 'node:assert/strict'
import { SILENT } from './loggers.ts'
import type { Clock } from '../../cluster/base/clock.ts'
import { DISK_THRESHOLDS } from '../../cluster/base/disk-level.ts'
import type { EntrySkip } from '../../cluster/node/base/entry-skips.ts'
import { FEATURE_LEVEL } from '../../cluster/node/base/feature-level.ts'
import { Node } from '../../cluster/node/node.ts'
import type { NodeOptions } from '../../cluster/node/base/options.ts'
import { LoopbackNetwork } from '../../cluster/transport/loopback-transport.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'
import type { MemoryDisk } from '../../cluster/wal/memory-wal.ts'
import { type MemoryState, MemoryStateMachine, command, textOf } from './memory-state-machine.ts'
import { DISK_BYTES, type Process, NodeHost, TappedWal } from './node-host.ts'

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
  /** The first members of the group; all nodes by default. `started` starts only these. */
  readonly voters?: readonly string[]
  readonly node?: Partial<NodeOptions>
  readonly maxDelayMs?: number
  /** By node: the feature level that its version supports. */
  readonly versions?: Readonly<Record<string, number>>
  /** By how much the wall clock of a node is ahead. */
  readonly wallSkewMs?: Readonly<Record<string, number>>
}

export class NodeWorld {
  readonly clock = new VirtualClock()
  readonly network: LoopbackNetwork
  readonly random: () => number
  readonly nodeIds: readonly string[]
  readonly voters: readonly string[]
  readonly #options: WorldOptions
  readonly #hosts = new Map<string, NodeHost>()
  /** How far the wall clock of a node is off, from now on. ms */
  readonly wallSkewMs = new Map<string, number>()
  /** The entry that a node is ordered to skip, from its next start on. */
  readonly skips = new Map<string, readonly EntrySkip[]>()
  /** The feature level of the version that a node starts from now on; FEATURE_LEVEL without an entry. */
  readonly versions = new Map<string, number>()

  constructor(options: WorldOptions = {}) {
    const seed = options.seed ?? 1
    this.#options = options
    for (const [nodeId, skew] of Object.entries(options.wallSkewMs ?? {})) this.wallSkewMs.set(nodeId, skew)
    this.random = seeded(seed)
    this.nodeIds = options.nodeIds ?? ['n1', 'n2', 'n3']
    this.voters = options.voters ?? this.nodeIds
    this.network = new LoopbackNetwork({
      clock: this.clock,
      random: seeded(seed + 1),
      maxDelayMs: options.maxDelayMs ?? 1,
    })
    for (const nodeId of this.nodeIds) this.#hosts.set(nodeId, new NodeHost(nodeId, 0))
  }

  static async started(options: WorldOptions = {}): Promise<NodeWorld> {
    const world = new NodeWorld(options)
    for (const [nodeId, level] of Object.entries(options.versions ?? {})) world.versions.set(nodeId, level)
    for (const nodeId of world.voters) await world.start(nodeId)
    await world.untilReady()
    await world.untilRegistered()
    return world
  }

  /** A new process over the host's disk and state. */
  async start(nodeId: string): Promise<Node> {
    const host = this.host(nodeId)
    assert(host.process === null, `${nodeId} runs already`)
    host.boot += 1
    const { disk, state, incarnation, boot } = host
    const wal = new TappedWal({
      disk,
      clock: this.clock,
      flushMs: () => host.flushMs ?? 1 + (this.random() % 3),
    })
    const machine = new MemoryStateMachine(state, {
      flush: () => this.#wait(host.applyMs ?? this.random() % 3),
    })
    const transport = this.network.transport(nodeId, {
      incarnation,
      peerStatus: () =>
        host.hidesApplied ? { ...node.peerStatus(), appliedIndex: null } : node.peerStatus(),
      judge: (claims) => node.judge(claims),
    })
    const node: Node = new Node(
      {
        nodeId,
        clusterId: 'test',
        incarnation,
        boot,
        initialConfiguration: { voters: this.voters, learners: [], outgoing: [] },
        heartbeatMs: HEARTBEAT_MS,
        electionTimeoutMs: ELECTION_TIMEOUT_MS,
        logKeepEntries: 10_000,
        logKeepBytes: 16 * 1024 * 1024,
        logPinBytes: 64 * 1024 * 1024,
        random: seeded(this.random()),
        ...this.#options.node,
        limits: {
          // A peer that is gone pins no entries, so that snapshots are needed soon.
          logPinSilentMs: 0,
          featureLevelMax: this.versions.get(nodeId) ?? FEATURE_LEVEL,
          ...this.#options.node?.limits,
        },
      },
      {
        clock: this.#clockOf(nodeId),
        wal,
        transport,
        stateMachine: machine,
        logger: SILENT,
        room: {
          usage: () => Promise.resolve({ totalBytes: DISK_BYTES, freeBytes: host.freeBytes }),
          scarceFrom: DISK_THRESHOLDS.reserve,
          isScarceAt: (peer) => this.host(peer).freeBytes < 0.05 * DISK_BYTES,
        },
        diskProof: host.proof,
        skips: this.skips.get(nodeId) ?? [],
      },
    )
    host.process = { node, wal, machine, transport }
    await this.clock.resolve(
      (async () => {
        await node.open()
        await node.start()
      })(),
      { limitMs: 1_000 },
    )
    return node
  }

  /** Power cut: unflushed writes are gone, but `survivors` writes reached the disk unacknowledged. */
  crash(nodeId: string, survivors = 0): void {
    const host = this.host(nodeId)
    assert(host.process !== null, `${nodeId} does not run`)
    const { node, wal, machine, transport } = host.process
    host.leave()
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
    this.host(nodeId).leave()
  }

  async stopAll(): Promise<void> {
    for (const nodeId of this.running) this.crash(nodeId)
    await this.clock.settle()
  }

  /** The data directory is gone; the node starts with an empty one. */
  wipe(nodeId: string): void {
    const { boot } = this.host(nodeId)
    this.#hosts.set(nodeId, new NodeHost(nodeId, boot + 1))
  }

  get running(): readonly string[] {
    return this.nodeIds.filter((nodeId) => this.host(nodeId).process !== null)
  }

  /** The nodes that take part: neither in log repair nor failed. */
  get serving(): readonly string[] {
    return this.running.filter((nodeId) => !this.node(nodeId).isRepairing)
  }

  disk(nodeId: string): MemoryDisk {
    return this.host(nodeId).disk
  }

  state(nodeId: string): MemoryState {
    return this.host(nodeId).state
  }

  process(nodeId: string): Process {
    const { process } = this.host(nodeId)
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

  /** The node that leads in the highest term, as far as it knows. */
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

  /** At the leader; `expectedIndex` is the index that the caller has seen. */
  changeConfiguration(
    { voters, learners = [] }: { readonly voters: readonly string[]; readonly learners?: readonly string[] },
    expectedIndex: number | null = null,
  ): Promise<void> {
    return this.node(this.leaderOrDie()).changeConfiguration({ voters, learners }, expectedIndex)
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
      const { incarnation, boot } = this.host(name)
      const registered = this.node(nodeId).registered(name)
      return registered?.incarnation === incarnation && registered.boot === boot
    }
    const isKnown = (name: string): boolean => this.running.every((nodeId) => isKnownAt(nodeId, name))
    return this.clock.runUntil(() => this.running.every(isKnown), { limitMs: 30_000 })
  }

  /** All running nodes have applied the same entries, and nothing is in flight. */
  untilEqual(limitMs = 60_000): Promise<void> {
    const isEqual = (): boolean => {
      if (this.serving.length < this.running.length) return false
      const statuses = this.running.map((nodeId) => this.node(nodeId).status())
      const leader = statuses.find(({ role }) => role === 'leader')
      return leader !== undefined && statuses.every(({ appliedIndex }) => appliedIndex === leader.lastIndex)
    }
    return this.clock.runUntil(isEqual, { limitMs })
  }

  /** The same moments for all, another wall time for each. */
  #clockOf(nodeId: string): Clock {
    return {
      now: () => this.clock.now(),
      wallTime: () => this.clock.wallTime() + (this.wallSkewMs.get(nodeId) ?? 0),
      after: (ms, callback) => this.clock.after(ms, callback),
    }
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.clock.after(ms, resolve))
  }

  /** The host of this node: what survives its crashes, and how a test may damage it. */
  host(nodeId: string): NodeHost {
    const host = this.#hosts.get(nodeId)
    assert(host !== undefined, `${nodeId} is a member`)
    return host
  }
}
