/**
 * The examples of both planes, by operation.
 */
import type { OperationId } from '../../access/operation-ids.ts'
import { adminExamples } from './admin-examples.ts'
import { dataExamples } from './data-examples.ts'
import type { Example } from './example.ts'

export const EXAMPLES: Readonly<Record<OperationId, Example>> = { ...dataExamples, ...adminExamples }
