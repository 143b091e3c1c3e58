/**
 * Gives an empty disk to a node, in the place of one that is gone, and says which disk is to be emptied.
 *
 * Rules: a running node sees both at its next look. only a directory that is there, is empty and is named in the settings gets an identity: the operator says with it that this is
 * the new disk, and not a mount point without one.
 */
import { randomBytes } from 'node:crypto'
import { StartError } from '../../base/types.ts'
import { lookAtDirectory, markDraining, readDiskIdentity, writeDiskIdentity } from './disk-identity.ts'
import { type DisksExpected, unusable } from './found-disks.ts'

export interface PreparedDisk {
  readonly directory: string
  readonly diskId: string
}

/** Throws StartError `blob_directory_unusable`. */
export async function prepareDisk(
  { clusterId, nodeId, directories }: DisksExpected,
  directory: string,
): Promise<PreparedDisk> {
  if (!directories.includes(directory))
    throw unusable(
      `'${directory}' is none of them`,
      `Name one of ${directories.join(', ') || 'node.blob_directories'}.`,
    )
  try {
    const { isThere, isEmpty, identity } = await lookAtDirectory(directory)
    if (!isThere)
      throw unusable(`'${directory}' does not exist`, 'Mount the disk, and make the directory on it.')
    if (identity !== null)
      throw unusable(
        `'${directory}' already has a disk of node "${identity.nodeId}"`,
        'Nothing has to be prepared.',
      )
    if (!isEmpty)
      throw unusable(`'${directory}' is not empty`, 'Give an empty disk, or empty this directory.')
    const diskId = randomBytes(16).toString('hex')
    await writeDiskIdentity(directory, { clusterId, nodeId, diskId })
    return { directory, diskId }
  } catch (cause) {
    if (cause instanceof StartError) throw cause
    throw unusable(
      `'${directory}' cannot be written`,
      'Run this as the user of the node, with the disk mounted.',
      cause,
    )
  }
}

/** Says that a disk of this node is to be emptied, or no longer. Throws StartError `blob_directory_unusable`. */
export async function drainDisk(
  { clusterId, nodeId }: DisksExpected,
  directory: string,
  isDraining: boolean,
): Promise<PreparedDisk> {
  try {
    const identity = await readDiskIdentity(directory)
    if (identity === null)
      throw unusable(
        `'${directory}' has no disk of this node`,
        'Name a directory of a disk that the node uses.',
      )
    if (identity.clusterId !== clusterId || identity.nodeId !== nodeId)
      throw unusable(
        `'${directory}' has a disk of node "${identity.nodeId}"`,
        'Run this on the machine of that node.',
      )
    await markDraining(directory, isDraining)
    return { directory, diskId: identity.diskId }
  } catch (cause) {
    if (cause instanceof StartError) throw cause
    throw unusable(`'${directory}' cannot be written`, 'Run this as the user of the node.', cause)
  }
}
