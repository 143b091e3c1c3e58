/**
 * The small scopes that are searched exhaustively.
 *
 * Rule: each shows one kind of race; what a scope leaves out is in another one, or in the random runs.
 */
import type { Budget, Scope } from './world.ts'

const NOTHING: Budget = {
  uploads: 0,
  deletes: 0,
  crashes: 0,
  rollbacks: 0,
  losses: 0,
  unknowns: 0,
  moves: 0,
  cancels: 0,
  faults: 0,
  closes: 0,
  collections: 0,
  releases: 0,
  advances: 0,
  versions: 0,
}

function scope(about: Partial<Omit<Scope, 'budget'>>, budget: Partial<Budget>): Scope {
  const plain = { versioning: 'Unversioned', hasUpload: false } as const
  const small = { nodes: 2, gateways: 1, contents: 1, copiesMin: 1, existingCopies: 0, ...plain }
  return { ...small, ...about, budget: { ...NOTHING, ...budget } }
}

export const SCOPES: Readonly<Record<string, Scope>> = {
  'an upload counts on a chunk that is deleted and collected': scope(
    { existingCopies: 1 },
    { uploads: 1, deletes: 1, collections: 1, releases: 1 },
  ),
  'two gateways upload the same content, and spare copies go': scope(
    { gateways: 2 },
    { uploads: 2, advances: 1 },
  ),
  'a copy moves away and comes back': scope({ existingCopies: 1 }, { moves: 2 }),
  'a move is cancelled and requested again': scope({ existingCopies: 1 }, { moves: 2, cancels: 1 }),
  'a session is closed under its upload': scope({}, { uploads: 1, closes: 1, advances: 1, unknowns: 1 }),
  'a gateway crashes in the middle of an upload': scope({}, { uploads: 1, crashes: 1, unknowns: 1 }),
  'a node goes back to older rows while a copy moves': scope(
    { existingCopies: 1 },
    { moves: 1, rollbacks: 1 },
  ),
  'a version is copied while the last object with its chunk is deleted and collected': scope(
    { existingCopies: 1, versioning: 'Enabled' },
    { versions: 2, collections: 1, releases: 1 },
  ),
  'a part is sent again while its upload is completed or aborted': scope(
    { hasUpload: true },
    { uploads: 2, versions: 1, advances: 1, collections: 1, releases: 1 },
  ),
  'a copy is lost while another one moves': scope({ nodes: 3, existingCopies: 2 }, { moves: 1, faults: 1 }),
}
