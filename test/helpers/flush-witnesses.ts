/**
 * What real nodes leave in memory outside of their data directories.
 *
 * Rule: only files of this very directory are removed.
 */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Below a folder of a test, its own folder included, data directories lie no deeper. */
const DEPTH_MAX = 4

/** Of every data directory in a folder. No node of them may run. */
export function removeWitnessesIn(folder: string, depth = DEPTH_MAX): void {
  removeWitnesses(folder)
  if (depth === 0 || !existsSync(folder)) return
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory() && !OF_A_NODE.includes(entry.name))
      removeWitnessesIn(join(folder, entry.name), depth - 1)
}

/** Folders with many files in which no data directory lies. */
const OF_A_NODE = ['raft', 'state', 'blobs', 'spool']

/** What a node leaves in memory outlives it. */
function removeWitnesses(dataDir: string): void {
  const [identity, folder] = [join(dataDir, 'identity.json'), '/dev/shm']
  if (!existsSync(identity) || !existsSync(folder)) return
  // Tests damage it.
  const incarnation = /"incarnation":"([0-9a-f]+)"/.exec(readFileSync(identity, 'utf8'))?.[1]
  if (incarnation === undefined) return
  const own = readdirSync(folder).filter((name) => name.startsWith(`holdfast-${incarnation}-`))
  for (const name of own) rmSync(join(folder, name), { force: true })
}
