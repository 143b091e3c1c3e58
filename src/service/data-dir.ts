/**
 * The data directory before anything in it is read: it exists, and no other user can enter it.
 *
 * Owns: its making and its permissions. Rules: what others could only read is closed and reported. What others could write to is
 * refused, because a file with a pending admin token may already be in it, and closing the directory would hide that.
 */
import { constants, type Stats } from 'node:fs'
import { access, chmod, mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Logger, StartError } from '../../cluster/index.ts'

const OWNER_ONLY = 0o700
const GROUP_AND_OTHERS = 0o077
const WRITABLE_BY_OTHERS = 0o022

const octal = (mode: number): string => (mode & 0o777).toString(8).padStart(3, '0')

/** Throws StartError `data_dir_unusable` or `data_dir_exposed`. */
export async function prepareDataDir(dataDir: string, logger: Logger): Promise<void> {
  await makeDirectory(dataDir)
  const { mode } = await stat(dataDir)
  if ((mode & GROUP_AND_OTHERS) === 0) return
  refuseWritable(dataDir, mode)
  await closeDirectory(dataDir, mode)
  logger.warn(
    { dataDir, mode: octal(mode) },
    'other users could read the data directory; its mode is now 700',
  )
}

/** What prepareDataDir refuses, without a change. Throws StartError. */
export async function examineDataDir(dataDir: string): Promise<void> {
  try {
    const found = await nearest(dataDir)
    if (!found.stats.isDirectory()) throw new Error(`'${found.path}' is not a directory`)
    await access(found.path, constants.R_OK | constants.W_OK | constants.X_OK)
    if (found.path !== dataDir) return
    refuseWritable(dataDir, found.stats.mode)
    refuseUnchangeable(dataDir, found.stats)
  } catch (cause) {
    throw cause instanceof StartError ? cause : unmakeable(dataDir, cause)
  }
}

/** The path, or the first folder above it that exists. */
async function nearest(path: string): Promise<{ readonly path: string; readonly stats: Stats }> {
  try {
    return { path, stats: await stat(path) }
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code !== 'ENOENT' || dirname(path) === path) throw cause
    return nearest(dirname(path))
  }
}

function refuseWritable(dataDir: string, mode: number): void {
  if ((mode & WRITABLE_BY_OTHERS) === 0) return
  throw new StartError(
    'data_dir_exposed',
    `Cannot start: other users can write to the data directory '${dataDir}' (mode ${octal(mode)}), and so create admin tokens`,
    { hint: `Look for files that the node did not write, then run: chmod 700 ${dataDir}` },
  )
}

/** Only the owner and root may change a mode. */
function refuseUnchangeable(dataDir: string, { mode, uid }: Stats): void {
  const user = process.getuid?.() ?? 0
  if ((mode & GROUP_AND_OTHERS) !== 0 && user !== 0 && user !== uid) throw unclosable(dataDir, mode)
}

async function makeDirectory(dataDir: string): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true, mode: OWNER_ONLY })
  } catch (cause) {
    throw unmakeable(dataDir, cause)
  }
}

const unmakeable = (dataDir: string, cause: unknown): StartError =>
  new StartError('data_dir_unusable', `Cannot use the data directory '${dataDir}'`, {
    hint: 'Set node.data_dir to a folder that this user may create, read and write.',
    cause,
  })

const unclosable = (dataDir: string, mode: number, cause?: unknown): StartError =>
  new StartError(
    'data_dir_exposed',
    `Cannot start: other users can read the data directory '${dataDir}' (mode ${octal(mode)}), and this user cannot change that`,
    {
      hint: `Run as its owner: chmod 700 ${dataDir}; or let chown give it to the user of the node.`,
      cause,
    },
  )

async function closeDirectory(dataDir: string, mode: number): Promise<void> {
  try {
    await chmod(dataDir, OWNER_ONLY)
  } catch (cause) {
    throw unclosable(dataDir, mode, cause)
  }
}
