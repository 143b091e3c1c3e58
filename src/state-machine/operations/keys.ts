/**
 * Row keys of operations, and the ranges that listings read.
 */
import type { OperationRecord } from './records.ts'
import { join, type KeyRange, rangeOf, type RowKey } from '../base/row-key.ts'

export const operationKeys = {
  operation: (id: string): RowKey<OperationRecord> => join('operation', id),
  operationList: (): RowKey<{
    readonly unfinished: readonly string[]
    readonly finished: readonly string[]
  }> => join('operationList'),
} as const

export const operationRanges = {
  operations: (): KeyRange<OperationRecord> => rangeOf('operation'),
} as const
