/**
 * The contents of a report and of a plan. docs/formats/recovery.md
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
  /** Null if the state is unusable. */
  readonly inventory: InventoryFile | null
  /** Why no further recovery can be planned on this state; null: it can. */
  readonly full: string | null
}

export interface Plan {
  readonly format: number
  readonly planId: string
  readonly madeAt: number
  readonly clusterId: string
  readonly decision: RecoveryDecision
  /** The survivors when the plan was made. */
  readonly reports: readonly Pick<
    NodeFacts,
    'nodeId' | 'incarnation' | 'boot' | 'term' | 'last' | 'applied'
  >[]
  readonly loss: LossStatement
  /** The plan in words. */
  readonly statement: readonly string[]
}

export const reportFileOf = (nodeId: string): string => `${nodeId}.report.json`
export const inventoryFileOf = (nodeId: string): string => `${nodeId}.inventory.zst`
