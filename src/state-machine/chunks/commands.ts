/**
 * Commands about chunks, their copies and upload sessions, and their replies.
 */
import type { ChunkId, TenantId } from '../base/record-ids.ts'

/** A chunk as the gateway uploaded it, or as it found it (`existing`: uploaded by somebody earlier, only referenced again). */
export interface ChunkUse {
  readonly id: ChunkId
  readonly birth: string
  readonly size: number
  readonly sealedSize: number
  readonly checksum: string
  readonly existing: boolean
  /** Who holds a durable copy, and who should but does not. Of an `existing` one: nobody. */
  readonly replicas: readonly string[]
  readonly missing: readonly string[]
}

export type PutBody =
  | { readonly kind: 'empty' }
  | { readonly kind: 'inline'; readonly chunkId: ChunkId; readonly sealed: Uint8Array }
  | {
      readonly kind: 'chunks'
      readonly chunks: readonly ChunkUse[]
      /** W of the gateway: the body is refused while the row of any chunk would list fewer copies than this. */
      readonly copiesMin: number
    }

export type ChunkCommand =
  /** A repair task is done: `node` now holds a verified copy of this birth. `permit`: which granting of the task. */
  | {
      readonly type: 'addReplica'
      readonly tenantId: TenantId
      readonly chunkId: ChunkId
      readonly birth: string
      readonly node: string
      readonly permit: number
    }
  /** Repair tasks of `node` are done: it now holds a verified copy of each of these. `permit`: which granting of the task. */
  | {
      readonly type: 'addReplicas'
      readonly node: string
      readonly copies: readonly (CopyName & { readonly permit: number })[]
    }
  /**
   * `node` found these copies of its own bad or absent: they no longer count and are to be made again. `operation`: the id of
   * the recovery that this begins, unless one of this node is under way; null: it begins none.
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
  /** `node` has removed these copies for good. */
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
  /** Of each node; null: as configured. */
  | { readonly type: 'setRepairRate'; readonly bytesPerSecond: number | null }
  /** A gateway begins to upload. `keep`: its older sessions that stay open; all others of this node are closed. */
  | {
      readonly type: 'openSession'
      readonly session: string
      readonly node: string
      readonly keep: readonly string[]
    }
  /** All uploads of this session below `lowWater` have ended, whatever came of them. */
  | { readonly type: 'advanceSession'; readonly session: string; readonly lowWater: number }
  | { readonly type: 'closeSession'; readonly session: string }

export interface ChunkReplies {
  addReplica: null
  addReplicas: { readonly listed: number }
  /** `last`: of so many it was the last listed copy, which stays listed. */
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

/** One making of one chunk. */
export interface CopyName {
  readonly tenantId: TenantId
  readonly chunkId: ChunkId
  readonly birth: string
}

export interface CopyMove extends CopyName {
  readonly target: string
  /** Whose copy goes once `target` has one, and only while `copiesKept` others stay. */
  readonly replaces: string | null
  readonly copiesKept: number
}
