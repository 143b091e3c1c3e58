/**
 * The examples of both planes: by operation, and those that only others stand on by a name of their own.
 */
import type { OperationId } from '../../access/base/operation-ids.ts'
import { adminExamples, furtherAdminExamples } from './admin-examples.ts'
import { dataExamples, furtherDataExamples } from './data-examples.ts'
import type { Example, FurtherExample } from './example.ts'

export const EXAMPLES: Readonly<Record<OperationId, Example>> = { ...dataExamples, ...adminExamples }

const FURTHER = { ...furtherDataExamples, ...furtherAdminExamples }

export type FurtherExampleId = keyof typeof FURTHER

export const FURTHER_EXAMPLES: Readonly<Record<FurtherExampleId, FurtherExample>> = FURTHER
