/**
 * The master key's file on disk: made once, read at every start, replaced as a whole.
 *
 * Owns: existence, size and permissions. Knows nothing of: what the line means.
 * Rule: an error names the file and what to do, and never quotes its content.
 */
import { randomBytes } from 'node:crypto'
import { chown, open, type FileHandle, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { StartError, syncDirectory } from '../../cluster/index.ts'

/** Eight wrapped lines of the longest form. */
const FILE_BYTES_MAX = 48 * 1024
const GROUP_AND_OTHERS = 0o077

export async function readKeyFile(file: string): Promise<string> {
  const handle = await openExisting(file)
  try {
    const found = await handle.stat()
    if (found.isDirectory()) throw notAFile(file)
    const { mode, size } = found
    refuseExposed(file, mode)
    if (size > FILE_BYTES_MAX) {
      throw new StartError('master_key_malformed', `Master key file '${file}' is too large to be a key`, {
        hint: 'Point security.master_key_file at the file that holds the key and nothing else.',
      })
    }
    return await handle.readFile('utf8')
  } finally {
    await handle.close()
  }
}

/** The file and its directory entry are durable when this resolves: losing this key later loses every object. */
export async function createKeyFile(file: string, line: string): Promise<void> {
  await writeNew(file, line)
  await syncDirectory(dirname(file))
}

/**
 * After a crash the old or the new content is there, never a mixture. The owner stays, so that a command of root leaves a file that the
 * user of the node can read. Throws StartError `master_key_unwritable`.
 */
export async function replaceKeyFile(file: string, text: string): Promise<void> {
  // In the same directory, for a rename does not cross file systems. A leftover of a crash is a secret that is never used.
  const temporary = join(dirname(file), `.${randomBytes(6).toString('hex')}.master-key.tmp`)
  try {
    const { uid, gid } = await stat(file)
    await writeNew(temporary, text)
    if (process.getuid?.() === 0) await chown(temporary, uid, gid)
    await rename(temporary, file)
    await syncDirectory(dirname(file))
  } finally {
    await rm(temporary, { force: true })
  }
}

async function writeNew(file: string, text: string): Promise<void> {
  const handle = await openNew(file)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function openExisting(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'r')
  } catch (cause) {
    throw new StartError('master_key_missing', `Cannot read the master key file '${file}'`, {
      cause,
      hint: 'Copy the key file of this cluster to that path; every node needs the same one.',
    })
  }
}

async function openNew(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'wx', 0o600)
  } catch (cause) {
    const exists = cause instanceof Error && 'code' in cause && cause.code === 'EEXIST'
    throw new StartError(
      exists ? 'master_key_exists' : 'master_key_unwritable',
      `Cannot create the master key file '${file}'${exists ? ': it exists already' : ''}`,
      {
        cause,
        hint: exists ? 'Use the existing key, or name another file.' : 'Make its directory writable.',
      },
    )
  }
}

function notAFile(file: string): StartError {
  return new StartError('master_key_malformed', `The master key file '${file}' is a folder`, {
    hint: 'Point security.master_key_file at the file that holds the key and nothing else.',
  })
}

function refuseExposed(file: string, mode: number): void {
  // Windows has no such bits and reports them all as set.
  if (process.platform === 'win32' || (mode & GROUP_AND_OTHERS) === 0) return
  throw new StartError('master_key_exposed', `Master key file '${file}' can be opened by other users`, {
    hint: `Run: chmod 600 ${file}`,
  })
}
