/**
 * Has this node do its part of the scrubs that somebody asked for, and tells how far it is.
 *
 * Owns: which scrub is this node's turn, when it is told of. Knows nothing of: how copies are read.
 * Rules: one at a time, the one asked for first; what is paused or cancelled is asked for no more; a part is told now and then
 * and at its end, so the log does not fill with it.
 */
import type { Cluster, Logger } from '../../cluster/index.ts'
import type { OperationRecord } from '../state-machine/operations/records.ts'
import type { LevelStateReader } from '../store/reads/level-state-reader.ts'
import type { Propose } from '../commands/propose.ts'

export interface ScrubbingParts {
  readonly cluster: Pick<Cluster, 'nodeId' | 'demandScrub' | 'repairStatus'>
  readonly state: Pick<LevelStateReader, 'unfinishedOperations'>
  readonly propose: Propose
  /** Of this process, ms; only differences count. */
  readonly now: () => number
  readonly logger: Logger
}

export const REPORT_EVERY_MS = 10_000

export class Scrubbing {
  readonly #parts: ScrubbingParts
  #reported: { readonly operationId: string; readonly at: number } | null = null

  constructor(parts: ScrubbingParts) {
    this.#parts = parts
  }

  /** One round of a worker; resolves with true when another scrub waits for its turn. Throws Condition. */
  async round(): Promise<boolean> {
    const { cluster, state } = this.#parts
    const turn = state.unfinishedOperations().find((one) => isTurnOf(one, cluster.nodeId))
    cluster.demandScrub(turn?.operationId ?? null)
    return turn !== undefined && (await this.#report(turn.operationId))
  }

  async #report(operationId: string): Promise<boolean> {
    const { cluster, propose, now, logger } = this.#parts
    const { demand } = cluster.repairStatus().scrub
    // Not begun: its inventory comes first.
    if (demand?.word !== operationId) return false
    const { word: _, ...share } = demand
    const last = this.#reported?.operationId === operationId ? this.#reported.at : -Infinity
    if (!share.isDone && now() - last < REPORT_EVERY_MS) return false
    const reply = await propose({ type: 'reportShare', operationId, node: cluster.nodeId, share })
    if (!reply.ok) logger.debug({ operation: operationId, reason: reply.message }, 'share not reported')
    this.#reported = { operationId, at: now() }
    return share.isDone && reply.ok
  }
}

function isTurnOf({ kind, status, shares }: OperationRecord, node: string): boolean {
  return kind === 'scrub' && (status === 'queued' || status === 'running') && shares?.[node]?.isDone === false
}
