/**
 * The one change of members that continues during the strikes, and the removed nodes.
 *
 * Owns: when a leaving node is started again, checked and stopped. Knows nothing of: which change it is.
 * Rule: processes and hosts are changed only between two strikes, when nothing else uses them. A node that left with its data keeps running
 * for a while: that is when faults are likely.
 */
import { existsSync } from 'node:fs'
import type { ProcessCluster } from '../../helpers/process-cluster.ts'
import type { RecordedWork } from '../../helpers/recorded-work.ts'
import type { Hosts } from './hosts-site.ts'
import type { MemberChanges } from './member-nemeses.ts'

/** This many removed nodes are kept running. */
const GONE_MAX = 2

interface TurnoverParts {
  readonly cluster: ProcessCluster
  readonly hosts: Hosts
  readonly registers: Pick<RecordedWork, 'startAt' | 'stopAt'>
  /** What is wrong with a node that left and runs, as sentences. */
  readonly look: (nodeId: string) => Promise<readonly string[]>
  readonly say: (line: string) => void
}

export class Turnover implements MemberChanges {
  readonly mishaps: string[] = []
  readonly #parts: TurnoverParts
  #underWay: { readonly what: string; readonly ended: Promise<void> } | null = null
  #leavingNodes: string[] = []
  /** They run, and are no members. The one that left first comes first. */
  readonly #remaining: string[] = []

  constructor(parts: TurnoverParts) {
    this.#parts = parts
  }

  get underWay(): string | null {
    return this.#underWay?.what ?? null
  }

  begin(what: string, change: () => Promise<void>): void {
    const ended = change()
      .then(() => this.#parts.say(`done: ${what}`))
      .catch((error: unknown) => void this.mishaps.push(`${what}: ${String(error)}`))
      .finally(() => (this.#underWay = null))
    this.#underWay = { what, ended }
  }

  hasJoined(nodeId: string): void {
    this.#parts.registers.startAt(nodeId)
  }

  hasLeft(nodeId: string): void {
    this.#leavingNodes.push(nodeId)
  }

  /** No fault is there. */
  async settle(): Promise<void> {
    const leavingNodes = this.#leavingNodes
    this.#leavingNodes = []
    for (const nodeId of leavingNodes) await this.#keep(nodeId)
    while (this.#remaining.length > GONE_MAX) await this.#dismiss(this.#remaining.shift() ?? '')
  }

  /** The running change has ended, and the node that it removed runs. */
  async finish(): Promise<void> {
    if (this.#underWay !== null) this.#parts.say(`waiting for: ${this.#underWay.what}`)
    await this.#underWay?.ended
    await this.settle()
  }

  async #keep(nodeId: string): Promise<void> {
    const { cluster } = this.#parts
    if (!existsSync(cluster.node(nodeId).dataDir)) return this.#remove(nodeId)
    if (!cluster.isRunning(nodeId)) cluster.startNode(nodeId)
    this.#remaining.push(nodeId)
  }

  async #dismiss(nodeId: string): Promise<void> {
    const { cluster, look } = this.#parts
    this.mishaps.push(...(await look(nodeId)))
    const code = await cluster.signal(nodeId, 'SIGTERM')
    if (code !== 0) this.mishaps.push(`${nodeId} ended with ${code} when it was taken down`)
    await this.#remove(nodeId)
  }

  async #remove(nodeId: string): Promise<void> {
    const { cluster, hosts, registers } = this.#parts
    registers.stopAt(nodeId)
    cluster.forget(nodeId)
    await hosts.remove(nodeId)
  }
}
