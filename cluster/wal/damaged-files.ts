/**
 * Keeps the files of a damaged log, so that an operator can examine what happened to the disk.
 *
 * Owns: the folder `damaged`. Knows nothing of: the content of the files.
 * Rule: a file is moved here only after its replacement is durable. The newest few stay; the log never reads them again.
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
  // The new names first: after a power cut a file may have both names, but never none.
  files.syncDir(folder)
  files.syncDir(dir)
  // Names are numbers of one length, so that their order is their age.
  const surplus = files.list(folder).toSorted().slice(0, -FILES_MAX)
  if (surplus.length === 0) return
  for (const name of surplus) files.unlink(join(folder, name))
  files.syncDir(folder)
}
