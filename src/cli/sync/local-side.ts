/**
 * A folder of this machine as one side of a sync.
 *
 * Rules: symbolic links are neither followed nor replaced. Nothing outside of the folder is written or removed, even if links in it lead
 * outside. A folder that cannot be read is a failure, never an empty folder.
 */
import type { Dirent } from 'node:fs'
import { lstat, mkdir, readdir, realpath, unlink } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { CommandError } from '../base/exit.ts'
import { isTemporary } from '../objects/unfinished-files.ts'
import { comparePaths, type Entry } from './entry.ts'

export async function* localEntries(root: string, below = ''): AsyncGenerator<Entry> {
  const found = await readdir(join(root, below), { withFileTypes: true })
  for (const entry of inByteOrder(found)) {
    if (isTemporary(entry.name)) continue
    const path = `${below}${entry.name}`
    if (entry.isDirectory()) yield* localEntries(root, `${path}/`)
    else yield await entryOf(root, path, entry)
  }
}

/** In the order of whole paths: the name of a folder includes its slash. */
function inByteOrder(entries: readonly Dirent[]): readonly Dirent[] {
  const nameOf = (entry: Dirent): string => (entry.isDirectory() ? `${entry.name}/` : entry.name)
  return entries.toSorted((a, b) => comparePaths(nameOf(a), nameOf(b)))
}

async function entryOf(root: string, path: string, entry: Dirent): Promise<Entry> {
  if (!entry.isFile()) return { path, size: 0, modifiedAt: 0, isLeftAlone: true }
  const { size, mtimeMs } = await lstat(join(root, path))
  return { path, size, modifiedAt: Math.floor(mtimeMs) }
}

/** Creates the folder of the path. Throws CommandError if a link in the path leads out of the root. */
export async function fileFor(root: string, path: string): Promise<string> {
  const file = join(root, path)
  await mkdir(dirname(file), { recursive: true })
  await assertInside(root, path)
  return file
}

export async function removeFile(root: string, path: string): Promise<void> {
  await assertInside(root, path)
  await unlink(join(root, path))
}

async function assertInside(root: string, path: string): Promise<void> {
  const [whole, folder] = await Promise.all([realpath(root), realpath(dirname(join(root, path)))])
  if (folder === whole || folder.startsWith(whole.endsWith(sep) ? whole : `${whole}${sep}`)) return
  throw new CommandError(`'${path}' is behind a link that leads out of '${root}'`, {
    code: 'outside_of_folder',
    hint: 'Remove the link, or sync the folder that it leads to.',
  })
}
