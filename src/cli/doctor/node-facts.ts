/**
 * Finds out whether a node runs on a data directory: it answers on its socket, or somebody holds the lock.
 *
 * Owns: the time limit of the question, the reading of /proc/locks. Rule: no lock is taken to find out about a lock, and no
 * database is opened.
 */
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { NodeStatus } from '../../api/local/node-status.ts'
import { localSocketPath } from '../../base/local-socket.ts'
import { exchange, STOPPED_CODES } from '../base/local-client.ts'
import type { NodeFacts } from './node-checks.ts'

const ANSWER_MS_MAX = 3000

export async function nodeFacts(dataDir: string): Promise<NodeFacts> {
  const socketPath = localSocketPath(dataDir)
  const asked = socketPath === null ? 'its socket path is too long' : await askStatus(socketPath)
  if (typeof asked !== 'string' && asked !== null) return asked
  const holder = await lockHolder(dataDir)
  if (holder !== null) return { kind: 'silent', pid: holder, why: asked ?? 'it has no socket' }
  return asked === null || socketPath === null
    ? { kind: 'stopped' }
    : { kind: 'silent', pid: null, why: asked }
}

/** Null: nobody listens. A text: why there was no answer. */
async function askStatus(socketPath: string): Promise<NodeFacts | string | null> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MS_MAX)
    const { status, body } = await exchange({ socketPath, method: 'GET', path: '/status', signal })
    if (status === 200) return { kind: 'answering', status: JSON.parse(body) as NodeStatus }
    // What an older node says of a question that it does not know.
    if (status === 400) return { kind: 'answering', status: null }
    const { message } = JSON.parse(body) as { message?: string }
    return message ?? `it answered with status ${status}`
  } catch (cause) {
    const { code = '', name, message } = cause as NodeJS.ErrnoException
    if (STOPPED_CODES.includes(code)) return null
    if (name === 'AbortError' || name === 'TimeoutError') return `no answer within ${ANSWER_MS_MAX / 1000} s`
    return code === 'EACCES' ? 'this user may not use its socket' : message
  }
}

/** The process that has the lock file of the directory locked; null: none, or this system does not tell. */
async function lockHolder(dataDir: string): Promise<number | null> {
  try {
    const { dev, ino } = await stat(join(dataDir, 'lock', 'LOCK'))
    return holderOf({ dev, ino }, await readFile('/proc/locks', 'utf8'))
  } catch {
    // No directory, no lock, or no Linux.
    return null
  }
}

/** Line of proc(5): `1: POSIX  ADVISORY  WRITE 4711 fe:00:131074 0 EOF`. */
export function holderOf(file: { readonly dev: number; readonly ino: number }, locks: string): number | null {
  const major = (file.dev >> 8) & 0xfff
  const minor = (file.dev & 0xff) | ((file.dev >> 12) & 0xfff00)
  for (const [, pid, found, low, ino] of locks.matchAll(
    /\bWRITE\s+(\d+)\s+([0-9a-f]+):([0-9a-f]+):(\d+)\s/g,
  )) {
    if (Number(ino) !== file.ino) continue
    if (parseInt(found ?? '', 16) === major && parseInt(low ?? '', 16) === minor) return Number(pid)
  }
  return null
}
