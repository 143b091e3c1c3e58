/**
 * Where Node.js keeps compiled code between runs of the program.
 *
 * Rule: only below a folder of this user. The default of Node.js is a name in the temporary folder of all users, and what lies there is run: who makes it
 * first runs code as everyone who starts the program later.
 */
import { mkdirSync, statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'

const WRITABLE_BY_OTHERS = 0o022

/** Null: no folder is safe, or Node.js was given one by NODE_COMPILE_CACHE. Creates the folder. */
export function compiledCodeFolder(environment: Readonly<Record<string, string | undefined>>): string | null {
  const { NODE_COMPILE_CACHE: given, XDG_CACHE_HOME: caches = '', HOME: home = '' } = environment
  const ours = isAbsolute(caches) ? caches : home
  if (given !== undefined || !isAbsolute(ours) || !isPrivate(ours)) return null
  const above = isAbsolute(caches) ? caches : join(home, '.cache')
  const folder = join(above, 'holdfast')
  return isMade(above) && isMade(folder) && isPrivate(folder) ? folder : null
}

/** False: it cannot be made, as in the home of many a service. Not `recursive`, which never ends below /proc. */
function isMade(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 })
    return true
  } catch (cause) {
    return cause instanceof Error && 'code' in cause && cause.code === 'EEXIST'
  }
}

/** `sudo` may leave HOME as it was, and then it is another user's. */
function isPrivate(folder: string): boolean {
  const found = statSync(folder, { throwIfNoEntry: false })
  return found !== undefined && found.uid === process.getuid?.() && (found.mode & WRITABLE_BY_OTHERS) === 0
}
