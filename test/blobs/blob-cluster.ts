/**
 * Nodes with blobs on a loopback network and a virtual clock; each can be stopped, cut off or slowed down.
 */
import type { Test } from 'tap'
import type { BlobLimits } from '../../cluster/blobs/base/blob-limits.ts'
import type { DiskUsage } from '../../cluster/blobs/base/blob-store.ts'
import { CopyLocks } from '../../cluster/blobs/disk/copy-locks.ts'
import { type CopyFault, ReplicatedBlobs } from '../../cluster/blobs/replication/replicated-blobs.ts'
import { placeReplicas } from '../../cluster/placement/rendezvous.ts'
import { LoopbackNetwork } from '../../cluster/transport/loopback-transport.ts'
import type { Transport } from '../../cluster/transport/transport.ts'
import type { BlobRef, Member, WrittenBlob } from '../../cluster/base/types.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'
import type { SampleBlob } from './blob-samples.ts'
import { SILENT } from '../helpers/loggers.ts'
import { MemoryBlobStore } from './memory-blob-store.ts'

export interface BlobNode {
  readonly nodeId: string
  readonly store: MemoryBlobStore
  readonly transport: Transport
  readonly blobs: ReplicatedBlobs
  readonly faults: string[]
}

export class BlobCluster {
  readonly clock = new VirtualClock()
  readonly network: LoopbackNetwork
  readonly members: readonly Member[]
  readonly nodes = new Map<string, BlobNode>()
  readonly #limits: Partial<BlobLimits>

  private constructor(members: readonly Member[], limits: Partial<BlobLimits>) {
    let state = 42
    const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0)
    this.network = new LoopbackNetwork({ clock: this.clock, random, minDelayMs: 1, maxDelayMs: 1 })
    this.members = members
    this.#limits = limits
  }

  /** `zones` names the zone of each node: "x x y" is three nodes n1, n2, n3. */
  static async start(t: Test, zones: string, limits: Partial<BlobLimits> = {}): Promise<BlobCluster> {
    const members = zones.split(' ').map((zone, n) => {
      return { nodeId: `n${n + 1}`, peerAddress: `127.0.0.1:${n + 1}`, zone, weight: 1 }
    })
    const cluster = new BlobCluster(members, limits)
    for (const { nodeId } of members) await cluster.#startNode(nodeId)
    t.teardown(() => {
      for (const { blobs } of cluster.nodes.values()) blobs.stop()
      return Promise.all([...cluster.nodes.values()].map(({ transport }) => transport.stop()))
    })
    return cluster
  }

  node(nodeId: string): BlobNode {
    const node = this.nodes.get(nodeId)
    if (node === undefined) throw new Error(`There is no node "${nodeId}"`)
    return node
  }

  /** Starts the disk rounds of all nodes, and waits for the first one. */
  async watchDisks(): Promise<void> {
    for (const { blobs } of this.nodes.values()) blobs.start()
    await this.clock.advance(10)
  }

  setDisk(nodeId: string, disk: Partial<DiskUsage>): void {
    const { store } = this.node(nodeId)
    store.disk = { ...store.disk, ...disk }
  }

  /** All members in the order of the placement hash for this blob, best first. */
  ranked(blob: SampleBlob): string[] {
    return placeReplicas({ blobId: blob.id, members: this.members, copies: this.members.length })
  }

  write(blob: SampleBlob, from = 'n1', limitMs = 60_000): Promise<WrittenBlob> {
    return this.clock.resolve(this.node(from).blobs.write(blob), { limitMs })
  }

  async #startNode(nodeId: string): Promise<void> {
    const store = new MemoryBlobStore()
    const transport = this.network.transport(nodeId, { incarnation: `life-of-${nodeId}` })
    const faults: string[] = []
    const blobs = new ReplicatedBlobs({
      nodeId,
      members: this.members,
      store,
      locks: new CopyLocks(),
      transport,
      clock: this.clock,
      incarnation: `life-of-${nodeId}`,
      boot: '1',
      logger: SILENT,
      onFault: (ref: BlobRef, holder: string, fault: CopyFault) =>
        faults.push(`${ref.birth}@${holder} ${fault}`),
      limits: this.#limits,
    })
    await transport.start({ onMessages: () => undefined, onUnreachable: () => undefined })
    this.nodes.set(nodeId, { nodeId, store, transport, blobs, faults })
  }
}
