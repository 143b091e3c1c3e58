/**
 * Whether the directories for blobs fit each other and the data directory, by their paths alone.
 *
 * Knows nothing of: what lies there; that is looked at before a start.
 * Rule: one file never belongs to two of them, so no directory is given twice, is within another one, or is within the data directory.
 */
import { join, relative, sep } from 'node:path'
import { FaultError } from './config-fault.ts'
import type { Config } from './types.ts'

/** `blobs/` in the data directory is the one that a node without this setting has. */
export function checkBlobDirectories({ dataDir, blobDirectories }: Config['node']): void {
  for (const [at, directory] of blobDirectories.entries()) {
    const twice = blobDirectories.indexOf(directory) !== at
    if (twice) throw fault(`names '${directory}' twice`, 'Name each directory once.')
    const outer = blobDirectories.find((other) => other !== directory && isWithin(directory, other))
    if (outer !== undefined)
      throw fault(
        `names '${directory}', which is within '${outer}'`,
        'Name directories that do not contain each other.',
      )
    if (
      isWithin(dataDir, directory) ||
      (isWithin(directory, dataDir) && directory !== join(dataDir, 'blobs'))
    )
      throw fault(
        `names '${directory}', which is within node.data_dir or contains it`,
        `Name directories beside it; within it only '${join(dataDir, 'blobs')}' is possible.`,
      )
  }
}

function isWithin(inner: string, outer: string): boolean {
  const way = relative(outer, inner)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`))
}

function fault(what: string, advice: string): FaultError {
  return new FaultError(`node.blob_directories ${what}`, advice)
}
