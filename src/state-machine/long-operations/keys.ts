/**
 * Row keys of operations, and the ranges that listings read.
 */
import type { LongOperation } from './records.ts'
import { join, type KeyRange, rangeOf, type RowKey } from '../base/row-key.ts'

export const longOperationKeys = {
  operation: (id: string): RowKey<LongOperation> => join('operation', id),
  operationList: (): RowKey<{
    readonly unfinished: readonly string[]
    readonly finished: readonly string[]
  }> => join('operationList'),
} as const

export const longOperationRanges = {
  operations: (): KeyRange<LongOperation> => rangeOf('operation'),
} as const
