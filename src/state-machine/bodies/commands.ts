/**
 * Commands that release what nothing needs any more, and their replies.
 */

export type BodyCommand =
  /** `partNumbers`: of an upload that has ended, some of the parts that are left. Ignored for a body. */
  | {
      readonly type: 'releaseDiscarded'
      readonly id: string
      readonly partNumbers: readonly number[]
    }
  /** Bodies that were discarded at index `upTo` or before; what was discarded later stays. */
  | {
      readonly type: 'releaseDue'
      readonly upTo: number
      readonly items: readonly { readonly discardedAt: number; readonly id: string }[]
    }

export interface BodyReplies {
  /** `isDone`: nothing is left of it. */
  releaseDiscarded: { readonly isDone: boolean }
  /** Items of which something was released, the first ones of those that were named. */
  releaseDue: { readonly released: number }
}
