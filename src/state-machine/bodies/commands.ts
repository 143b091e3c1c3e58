/**
 * Commands that release discarded bodies and parts, and their replies.
 */

export type BodyCommand =
  /** `partNumbers`: some of the remaining parts of an ended upload. Ignored for a body. */
  | {
      readonly type: 'releaseDiscarded'
      readonly id: string
      readonly partNumbers: readonly number[]
    }
  /** Releases bodies that were discarded at index `upTo` or before; those that were discarded later stay. */
  | {
      readonly type: 'releaseDue'
      readonly upTo: number
      readonly items: readonly { readonly discardedAt: number; readonly id: string }[]
    }

export interface BodyReplies {
  /** `isDone`: everything under this id is released. */
  releaseDiscarded: { readonly isDone: boolean }
  /** How many items were released, in whole or in part, in the order of the command. */
  releaseDue: { readonly released: number }
}
