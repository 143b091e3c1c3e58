/**
 * Opens a target by its text, such as `directory:weekly`.
 *
 * Owns: which kinds there are. Knows nothing of: what is stored in them. Rule: a node writes only below the directory that its settings name: who may start a
 * backup does not choose a path of the machine.
 */
import { isAbsolute, join, resolve } from 'node:path'
import { DirectoryTarget } from './directory-target.ts'
import { type BackupTarget, checkName, TargetRefused } from './target.ts'

const DIRECTORY = 'directory:'

/** Throws TargetRefused. */
export type OpenTarget = (text: string) => BackupTarget

/** Of a node. `directory`: `backup.directory` of its settings; null: not set. */
export function nodeTargets(directory: string | null): OpenTarget {
  return (text) => {
    const folder = folderIn(text)
    if (directory === null)
      throw new TargetRefused(
        'This node has no directory for backups: set backup.directory on every node, to the same shared directory',
      )
    if (folder !== '') checkName(folder)
    return new DirectoryTarget(join(directory, folder), directory)
  }
}

/** Of a command line, which has the rights of its caller: any absolute path. */
export const localTargets: OpenTarget = (text) => {
  const path = folderIn(text)
  if (!isAbsolute(path) || path.includes('\u0000'))
    throw new TargetRefused(
      `The path in "${text.slice(0, 80)}" is not absolute: write directory:/mnt/backups`,
    )
  return new DirectoryTarget(resolve(path))
}

function folderIn(text: string): string {
  if (text.startsWith(DIRECTORY)) return text.slice(DIRECTORY.length)
  throw new TargetRefused(
    `"${text.slice(0, 80)}" is no backup target: write directory: and a folder, such as directory:weekly`,
  )
}
