/** The index of all attacks, in the order in which they run. */
import type { Attack } from './attack.ts'
import { auditFlood } from './audit-flood.ts'
import { keyOracle } from './key-oracle.ts'
import { adminFlood, manyConnections, pipelinedReads } from './many-connections.ts'
import { manyHooks, piledUp } from './piled-up.ts'
import { revokedKeys } from './revoked-keys.ts'
import { slowBodies } from './slow-bodies.ts'
import { honestCrowd, impatientCrowd, slowCrowd } from './slow-crowd.ts'
import { downloadBurst, slowDownloads } from './slow-downloads.ts'
import { heldBodies, lockOut, manyDocuments, manyNames } from './unproved-floods.ts'

export const ATTACKS: readonly Attack[] = [
  slowBodies,
  slowCrowd,
  impatientCrowd,
  honestCrowd,
  downloadBurst,
  slowDownloads,
  manyConnections,
  pipelinedReads,
  adminFlood,
  auditFlood,
  heldBodies,
  manyNames,
  manyDocuments,
  lockOut,
  piledUp,
  manyHooks,
  keyOracle,
  revokedKeys,
]
