/**
 * Keeps the files of a damaged log for whoever wants to know what happened to the disk.
 *
 * Owns: the folder `damaged`. Knows nothing of: what is in the files.
 * Rule: a file comes here only after what replaces it is durable. The newest few stay; the log never reads them again.
 */
import { basename, join } from 'node:path'
import type { FileOps } from './file-ops.ts'

const FOLDER = 'damaged'
const FILES_MAX = 8

export function setAside(files: FileOps, dir: string, paths: readonly string[]): void {
  if (paths.length === 0) return
  const folder = join(dir, FOLDER)
  files.makeDir(folder)
  for (const path of paths) files.rename(path, join(folder, basename(path)))
  // The new names first: a file may be seen twice after a power cut, never not at all.
  files.syncDir(folder)
  files.syncDir(dir)
  // Names are numbers of one length, so that their order is their age.
  const surplus = files.list(folder).toSorted().slice(0, -FILES_MAX)
  if (surplus.length === 0) return
  for (const name of surplus) files.unlink(join(folder, name))
  files.syncDir(folder)
}
