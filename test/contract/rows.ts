/**
 * Every line of the contract by area: what is built must have a test that is named after it.
 *
 * Owns: which areas there are and which are built. Rule: an area is set to built together with its rows and their tests.
 */
import type { ContractArea } from '../../scripts/contract.ts'
import { bucketRows, listingRows, versionRows } from './bucket-rows.ts'
import { errorRows, limitRows } from './error-rows.ts'
import { notificationRows } from './notification-rows.ts'
import { multipartRows } from './multipart-rows.ts'
import { batchDeleteRows, copyRows, idempotencyRows, objectRows } from './object-rows.ts'
import { legalHoldRows, retentionRows, tagRows } from './version-part-rows.ts'

const later = (name: string): ContractArea => ({ name, built: false, rows: {} })

export const CONTRACT: readonly ContractArea[] = [
  { name: 'buckets', built: true, rows: bucketRows },
  { name: 'objects', built: true, rows: { ...objectRows, ...copyRows, ...batchDeleteRows } },
  { name: 'versions', built: true, rows: versionRows },
  { name: 'tags', built: true, rows: tagRows },
  { name: 'retention', built: true, rows: retentionRows },
  { name: 'legal-hold', built: true, rows: legalHoldRows },
  { name: 'multipart', built: true, rows: multipartRows },
  { name: 'listing', built: true, rows: listingRows },
  { name: 'limits', built: true, rows: limitRows },
  { name: 'idempotency', built: true, rows: idempotencyRows },
  { name: 'errors', built: true, rows: errorRows },
  { name: 'notifications', built: true, rows: notificationRows },
  ...['tokens', 'signed-urls', 'cors', 'audit', 'admin'].map(later),
]
