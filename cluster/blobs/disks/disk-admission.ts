/**
 * Whether a node uses what lies at one of its directories of blobs. Pure.
 *
 * Knows nothing of: files, how a disk is opened.
 * Rules: a directory in which the node had a disk before is used only with an identity in it: without one its disk is missing, and
 * whatever lies there now is left alone. Only a directory that is new to the node gets an identity, and only if it is empty. One disk
 * is used once, however many paths lead to it.
 */
import type { DirectoryFound, DiskOwner } from './disk-identity.ts'

export interface DirectoryFacts {
  readonly directory: string
  readonly found: DirectoryFound
  /** The disk that the node had there; null: the directory is new to it. */
  readonly knownId: string | null
  /** The directory that nodes with one disk use: it is made where it is missing, and may hold copies without an identity. */
  readonly isFirst: boolean
}

export type Admission =
  | { readonly kind: 'serve'; readonly diskId: string }
  /** It is to get an identity. */
  | { readonly kind: 'make' }
  /** The node continues without it. */
  | { readonly kind: 'out'; readonly status: 'absent' | 'foreign' }
  /** The settings cannot be meant like this: the node does not start. */
  | { readonly kind: 'refuse'; readonly why: string; readonly advice: string }

/** `taken`: ids of disks at other directories of this node. */
export function admitDisk(
  { directory, found, knownId, isFirst }: DirectoryFacts,
  owner: DiskOwner,
  taken: ReadonlySet<string>,
): Admission {
  const { identity } = found
  const isKnown = knownId !== null
  if (identity !== null) {
    if (identity.clusterId !== owner.clusterId || identity.nodeId !== owner.nodeId) {
      if (isKnown) return { kind: 'out', status: 'foreign' }
      const why = `'${directory}' has a disk of node "${identity.nodeId}" of cluster "${identity.clusterId}"`
      return { kind: 'refuse', why, advice: 'Name a directory of this node, or mount the right disk there.' }
    }
    if (!taken.has(identity.diskId)) return { kind: 'serve', diskId: identity.diskId }
    if (isKnown) return { kind: 'out', status: 'foreign' }
    const why = `'${directory}' leads to a disk that another directory of node.blob_directories leads to`
    return { kind: 'refuse', why, advice: 'Name each disk once.' }
  }
  if (isKnown) return { kind: 'out', status: 'absent' }
  if (isFirst) return { kind: 'make' }
  if (!found.isThere) {
    const why = `'${directory}' does not exist`
    return {
      kind: 'refuse',
      why,
      advice: 'Mount its disk, and make the directory on it for the user of this node.',
    }
  }
  if (found.isEmpty) return { kind: 'make' }
  const why = `'${directory}' is not empty and has no disk.json`
  return { kind: 'refuse', why, advice: 'Name an empty directory that belongs to this node alone.' }
}
