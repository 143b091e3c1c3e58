/** The index of all attacks, in the order in which they run. */
import type { Attack } from './attack.ts'
import { auditFlood } from './audit-flood.ts'
import { revokedKeys } from './revoked-keys.ts'
import { slowBodies } from './slow-bodies.ts'
import { honestCrowd, slowCrowd } from './slow-crowd.ts'
import { slowDownloads } from './slow-downloads.ts'
import { heldBodies, lockOut, manyDocuments, manyNames } from './unproved-floods.ts'

export const ATTACKS: readonly Attack[] = [
  slowBodies,
  slowCrowd,
  honestCrowd,
  slowDownloads,
  revokedKeys,
  auditFlood,
  heldBodies,
  manyNames,
  manyDocuments,
  lockOut,
]
