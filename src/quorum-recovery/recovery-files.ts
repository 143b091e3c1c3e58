/**
 * What stands in a report and in a plan. docs/formats/recovery.md
 *
 * Owns: the shapes, and the names of the files. Knows nothing of: seals, disks.
 */
import type { NodeFacts, RecoveryDecision } from '../../cluster/index.ts'
import type { InventoryFile } from './inventory.ts'
import type { LossStatement } from './loss.ts'

export const RECOVERY_FORMAT = 1

export interface Report {
  readonly format: number
  /** ms since 1970 */
  readonly madeAt: number
  readonly version: string
  readonly facts: NodeFacts
  /** Null where the state cannot be used. */
  readonly inventory: InventoryFile | null
  /** Why no more recoveries may be planned on this state; null: they may. */
  readonly full: string | null
}

export interface Plan {
  readonly format: number
  readonly planId: string
  readonly madeAt: number
  readonly clusterId: string
  readonly decision: RecoveryDecision
  /** Of the survivors, as they were when the plan was made. */
  readonly reports: readonly Pick<
    NodeFacts,
    'nodeId' | 'incarnation' | 'boot' | 'term' | 'last' | 'applied'
  >[]
  readonly loss: LossStatement
  /** The same in words. */
  readonly statement: readonly string[]
}

export const reportFileOf = (nodeId: string): string => `${nodeId}.report.json`
export const inventoryFileOf = (nodeId: string): string => `${nodeId}.inventory.zst`
