/**
 * The folder of `holdfast config create` on disk: what is in it, its folders, the copies for each node, their owner.
 *
 * Rule: nothing is overwritten, and an empty folder counts as nothing: a container engine makes the folders that it mounts.
 */
import { constants } from 'node:fs'
import { chmod, chown, copyFile, mkdir, readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { syncDirectory } from '../../../cluster/index.ts'
import { CommandError } from '../base/exit.ts'
import type { ClusterFiles } from './cluster-files.ts'

export interface Owner {
  readonly uid: number
  readonly gid: number
}

const PRIVATE = 0o700

/** Files in `dir` and in the folders in it, relative to it; none if it does not exist. */
export async function contentOf(dir: string): Promise<readonly string[]> {
  const entries = await readdir(dir, { withFileTypes: true }).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return []
    throw cause
  })
  const names = entries.map(async (entry) => {
    if (!entry.isDirectory()) return [entry.name]
    return (await readdir(join(dir, entry.name))).map((name) => join(entry.name, name))
  })
  return (await Promise.all(names)).flat()
}

/** Those that are there become private. */
export async function makeFolders({ folders }: ClusterFiles): Promise<void> {
  for (const folder of folders) {
    await mkdir(folder, { recursive: true, mode: PRIVATE })
    await chmod(folder, PRIVATE)
  }
}

/** What all nodes share, into the folder of each. */
export async function copyShared({ authority, masterKey, nodeFolders }: ClusterFiles): Promise<void> {
  for (const folder of nodeFolders) {
    for (const file of [authority.certificate, masterKey])
      await copyFile(file, join(folder, basename(file)), constants.COPYFILE_EXCL)
    await syncDirectory(folder)
  }
}

/** Throws CommandError `owner_not_given`. */
export async function giveTo({ uid, gid }: Owner, { nodeFolders }: ClusterFiles): Promise<void> {
  for (const folder of nodeFolders) {
    const all = [...(await readdir(folder)).map((name) => join(folder, name)), folder]
    for (const path of all)
      await chown(path, uid, gid).catch((cause: unknown) => {
        throw new CommandError(`Cannot give '${path}' to ${uid}:${gid}`, {
          code: 'owner_not_given',
          hint: 'Only root can give files away. Remove the folder and run the command as root.',
          cause,
        })
      })
  }
}
