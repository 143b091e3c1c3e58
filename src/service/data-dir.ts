/**
 * The data directory before anything in it is read: it exists, and no other user can enter it.
 *
 * Owns: its making and its permissions. Rules: what others could only read is closed and reported. What others could write to is
 * refused, because a file with a pending admin token may already be in it, and closing the directory would hide that.
 */
import { chmod, mkdir, stat } from 'node:fs/promises'
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
  if ((mode & WRITABLE_BY_OTHERS) !== 0)
    throw new StartError(
      'data_dir_exposed',
      `Cannot start: other users can write to the data directory '${dataDir}' (mode ${octal(mode)}), and so create admin tokens`,
      { hint: `Look for files that the node did not write, then run: chmod 700 ${dataDir}` },
    )
  await closeDirectory(dataDir, mode)
  logger.warn(
    { dataDir, mode: octal(mode) },
    'other users could read the data directory; its mode is now 700',
  )
}

async function makeDirectory(dataDir: string): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true, mode: OWNER_ONLY })
  } catch (cause) {
    throw new StartError('data_dir_unusable', `Cannot create the data directory '${dataDir}'`, {
      hint: 'Set node.data_dir to a folder that this user may write to.',
      cause,
    })
  }
}

async function closeDirectory(dataDir: string, mode: number): Promise<void> {
  try {
    await chmod(dataDir, OWNER_ONLY)
  } catch (cause) {
    throw new StartError(
      'data_dir_exposed',
      `Cannot start: other users can read the data directory '${dataDir}' (mode ${octal(mode)}), and this user cannot change that`,
      {
        hint: `Run as its owner: chmod 700 ${dataDir}; or let chown give it to the user of the node.`,
        cause,
      },
    )
  }
}
