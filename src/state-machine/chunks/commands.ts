/**
 * Commands about chunks, their copies and upload sessions, and their replies.
 */
import type { ChunkId, TenantId } from '../base/record-ids.ts'

/** A chunk that the gateway uploaded, or found (`existing`: an earlier upload made it, and it gets one more reference). */
export interface ChunkUse {
  readonly id: ChunkId
  readonly birth: string
  readonly size: number
  readonly sealedSize: number
  readonly checksum: string
  /** Version of the tenant's data key that seals the copies; only of a fresh upload. Absent: 1. */
  readonly keyVersion?: number
  readonly existing: boolean
  /** Nodes that hold a durable copy, and nodes that should but do not. Both empty for an `existing` chunk. */
  readonly replicas: readonly string[]
  readonly missing: readonly string[]
}

export type PutBody =
  | { readonly kind: 'empty' }
  | {
      readonly kind: 'inline'
      readonly chunkId: ChunkId
      readonly sealed: Uint8Array
      /** Version of the tenant's data key that seals it. Absent: 1. */
      readonly keyVersion?: number
    }
  | {
      readonly kind: 'chunks'
      readonly chunks: readonly ChunkUse[]
      /** Copies that an acknowledgement needs: the body is refused if the row of any chunk would list fewer. */
      readonly copiesMin: number
    }

export type ChunkCommand =
  /** A repair task is done: `node` now holds a verified copy of this birth. `permit`: identifies the grant of the task. */
  | {
      readonly type: 'addReplica'
      readonly tenantId: TenantId
      readonly chunkId: ChunkId
      readonly birth: string
      readonly node: string
      readonly permit: number
    }
  /** Repair tasks of `node` are done: it now holds a verified copy of each chunk. `permit`: identifies the grant of the task. */
  | {
      readonly type: 'addReplicas'
      readonly node: string
      readonly copies: readonly (CopyName & { readonly permit: number })[]
    }
  /**
   * `node` found these copies of its own bad or absent: they no longer count and are to be made again. `operation`: the id of
   * the recovery to start, unless one of this node is unfinished; null: start none.
   */
  | {
      readonly type: 'dropReplicas'
      readonly node: string
      readonly copies: readonly CopyName[]
      readonly operation: string | null
    }
  | { readonly type: 'planCopies'; readonly operation: string; readonly moves: readonly CopyMove[] }
  | {
      readonly type: 'endTasks'
      readonly operation: string
      readonly tasks: readonly (CopyName & { readonly target: string })[]
    }
  /** `node` has removed these copies durably. */
  | {
      readonly type: 'dropsDone'
      readonly node: string
      readonly names: readonly { readonly id: ChunkId; readonly birth: string }[]
    }
  | {
      readonly type: 'collectChunks'
      readonly chunks: readonly (CopyName & { readonly condemnedAt: number })[]
    }
  | { readonly type: 'haltCollection'; readonly reason: string }
  | { readonly type: 'resumeCollection'; readonly requestedBy: string; readonly reason: string }
  /** For each node; null: the configured rate. */
  | { readonly type: 'setRepairRate'; readonly bytesPerSecond: number | null }
  /** A gateway starts to upload. `keep`: its older sessions that stay open; all other sessions of this node are closed. */
  | {
      readonly type: 'openSession'
      readonly session: string
      readonly node: string
      readonly keep: readonly string[]
    }
  /** All uploads of this session below `lowWater` have ended, successfully or not. */
  | { readonly type: 'advanceSession'; readonly session: string; readonly lowWater: number }
  | { readonly type: 'closeSession'; readonly session: string }

export interface ChunkReplies {
  addReplica: null
  addReplicas: { readonly listed: number }
  /** `last`: the number of copies that stay listed because they were the last listed ones. */
  dropReplicas: { readonly dropped: number; readonly last: number }
  planCopies: { readonly planned: number }
  endTasks: { readonly ended: number }
  dropsDone: null
  collectChunks: { readonly collected: number }
  haltCollection: null
  resumeCollection: null
  setRepairRate: null
  openSession: null
  advanceSession: null
  closeSession: null
}

/** One birth of one chunk. */
export interface CopyName {
  readonly tenantId: TenantId
  readonly chunkId: ChunkId
  readonly birth: string
}

export interface CopyMove extends CopyName {
  readonly target: string
  /** The node whose copy is removed once `target` has one, provided that `copiesKept` others stay. */
  readonly replaces: string | null
  readonly copiesKept: number
}
