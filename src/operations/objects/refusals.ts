/**
 * Codes that several operations on objects answer.
 */
import type { Operation } from '../base/operation.ts'

type Codes = Operation['refuses']

/** Of a new version without tags and locks of its own. */
export const PLAIN_VERSION_REFUSALS: Codes = [
  'invalid_argument',
  'object_locked',
  'precondition_failed',
  'quota_exceeded',
  'not_implemented',
]

export const NEW_VERSION_REFUSALS: Codes = [
  ...PLAIN_VERSION_REFUSALS,
  'invalid_tag',
  'object_lock_not_enabled',
]

export const READ_REFUSALS: Codes = ['invalid_argument', 'method_not_allowed', 'precondition_failed']
