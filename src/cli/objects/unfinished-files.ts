/**
 * Files of downloads that have not ended: `.holdfast-PLACE-STATE-PID.part` beside the file that they are to become, so that a later command continues.
 *
 * PLACE is a hash of the file, bucket and key, STATE of the version and the etag, PID the process that writes it.
 * Rules: the file of a process that runs is left alone. One is claimed by a new name, so that of two commands only one continues with it.
 */
import { createHash } from 'node:crypto'
import { readdir, rename, stat, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

export interface UnfinishedFile {
  readonly file: string
  readonly state: string
  readonly bytes: number
}

interface Target {
  readonly path: string
  readonly bucket: string
  readonly key: string
}

/** Those of earlier releases have no state, and nothing continues with them. */
const NAME = /^\.holdfast-([0-9a-f]{16})(?:-([0-9a-f]{16})-(\d{1,10}))?\.part$/

/** Whether it is the name of an unfinished transfer. */
export const isTemporary = (name: string): boolean => NAME.test(name)

/** Names the object and the version whose bytes an answer has. */
export function stateOf(headers: Readonly<Record<string, string>>): string {
  return hashOf([headers['x-service-version-id'] ?? '', headers['etag'] ?? ''])
}

export function unfinishedPath(target: Target, state: string): string {
  return join(dirname(target.path), `.holdfast-${placeOf(target)}-${state}-${process.pid}.part`)
}

/** What a command that ended has left of this download; others of the same place are removed. Null: nothing. */
export async function claimUnfinished(target: Target): Promise<UnfinishedFile | null> {
  const folder = dirname(target.path)
  const place = placeOf(target)
  let claimed: UnfinishedFile | null = null
  for (const name of await readdir(folder)) {
    const [, of, state = '', pid = ''] = NAME.exec(name) ?? []
    if (of !== place || state === '' || runs(Number(pid))) continue
    if (claimed === null) claimed = await claim(join(folder, name), unfinishedPath(target, state), state)
    else await unlink(join(folder, name)).catch(() => {})
  }
  return claimed
}

/** Null: another command was first. */
async function claim(from: string, file: string, state: string): Promise<UnfinishedFile | null> {
  try {
    await rename(from, file)
    return { file, state, bytes: (await stat(file)).size }
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return null
    throw cause
  }
}

/** Another process than this one. */
function runs(pid: number): boolean {
  if (pid === process.pid) return false
  try {
    return process.kill(pid, 0)
  } catch (cause) {
    // It belongs to another user.
    return cause instanceof Error && 'code' in cause && cause.code === 'EPERM'
  }
}

const placeOf = ({ path, bucket, key }: Target): string => hashOf([basename(path), bucket, key])

function hashOf(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16)
}
