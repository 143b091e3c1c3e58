/**
 * Runs this node's part of requested scrubs, and reports its progress.
 *
 * Owns: which scrub is next at this node, when progress is reported. Knows nothing of: how copies are read.
 * Rules: one at a time, the earliest request first; a paused or cancelled scrub is not continued; progress is reported at intervals
 * and at the end, so it does not fill the log.
 */
import type { Cluster, Logger } from '../../cluster/index.ts'
import type { LongOperation } from '../state-machine/long-operations/records.ts'
import type { View } from '../state-machine/base/view.ts'
import type { Propose } from '../commands/propose.ts'
import { unfinishedOperations } from '../state-machine/long-operations/operations.ts'

export interface ScrubbingParts {
  readonly cluster: Pick<Cluster, 'nodeId' | 'demandScrub' | 'repairStatus'>
  readonly state: View
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
    const turn = unfinishedOperations(state).find((one) => isTurnOf(one, cluster.nodeId))
    cluster.demandScrub(turn?.operationId ?? null)
    return turn !== undefined && (await this.#report(turn.operationId))
  }

  async #report(operationId: string): Promise<boolean> {
    const { cluster, propose, now, logger } = this.#parts
    const { demand } = cluster.repairStatus().scrub
    // Not started: its inventory comes first.
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

function isTurnOf({ kind, status, shares }: LongOperation, node: string): boolean {
  return kind === 'scrub' && (status === 'queued' || status === 'running') && shares?.[node]?.isDone === false
}
