/** Ids of long operations. They sort by start time, so a listing shows them in that order. */
import { randomBytes } from 'node:crypto'

export function newOperationId(): string {
  return `op_${Date.now().toString(36).padStart(9, '0')}${randomBytes(8).toString('hex')}`
}
