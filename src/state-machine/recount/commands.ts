/**
 * The command that reports a recount, and its reply.
 */

export type RecountCommand =
  /** `node` has recounted one snapshot of all rows; a difference halts the collection. `operationId`: the operation that requested it. */
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
