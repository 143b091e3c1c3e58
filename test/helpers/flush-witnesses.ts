/**
 * Removes the flush witnesses: files that real nodes keep in memory outside their data directories.
 *
 * Rule: only files of nodes below the given folder are removed.
 */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Data directories are at most this deep below the folder of a test. */
const DEPTH_MAX = 4

/** For every data directory in a folder. None of their nodes may run. */
export function removeWitnessesIn(folder: string, depth = DEPTH_MAX): void {
  removeWitnesses(folder)
  if (depth === 0 || !existsSync(folder)) return
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory() && !OF_A_NODE.includes(entry.name))
      removeWitnessesIn(join(folder, entry.name), depth - 1)
}

/** Folders with many files and no data directory. */
const OF_A_NODE = ['raft', 'state', 'blobs', 'spool']

/** The witness outlives the process of its node. */
function removeWitnesses(dataDir: string): void {
  const [identity, folder] = [join(dataDir, 'identity.json'), '/dev/shm']
  if (!existsSync(identity) || !existsSync(folder)) return
  // Tests damage the file.
  const incarnation = /"incarnation":"([0-9a-f]+)"/.exec(readFileSync(identity, 'utf8'))?.[1]
  if (incarnation === undefined) return
  const own = readdirSync(folder).filter((name) => name.startsWith(`holdfast-${incarnation}-`))
  for (const name of own) rmSync(join(folder, name), { force: true })
}
