/**
 * The command that reports a recount, and their replies.
 */

export type RecountCommand =
  /** `node` has counted one cut of all rows anew; a difference halts the collection. `operationId`: who asked for it. */
  {
    readonly type: 'finishRecount'
    readonly operationId: string | null
    readonly node: string
    readonly rows: number
    readonly differences: number
    readonly first: string | null
  }

export interface RecountReplies {
  finishRecount: null
}
