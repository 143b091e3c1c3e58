/**
 * Finds out whether a node runs on a data directory: it answers on its socket, or a process holds the lock.
 *
 * Owns: the time limit of the query, the reading of /proc/locks. Rule: the lock is not taken in order to test it, and no
 * database is opened.
 */
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { NodeStatus } from '../../api/local/node-status.ts'
import { localSocketPath } from '../../base/local-socket.ts'
import { exchange, STOPPED_CODES } from '../base/local-client.ts'
import type { NodeFacts } from '../../doctor/node-checks.ts'

const ANSWER_MS_MAX = 3000

export async function nodeFacts(dataDir: string): Promise<NodeFacts> {
  const socketPath = localSocketPath(dataDir)
  const answer = socketPath === null ? 'its socket path is too long' : await queryStatus(socketPath)
  if (typeof answer !== 'string' && answer !== null) return answer
  const holder = await lockHolder(dataDir)
  if (holder !== null) return { kind: 'silent', pid: holder, why: answer ?? 'it has no socket' }
  return answer === null || socketPath === null
    ? { kind: 'stopped' }
    : { kind: 'silent', pid: null, why: answer }
}

/** Null: no process listens. A text: why there is no answer. */
async function queryStatus(socketPath: string): Promise<NodeFacts | string | null> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MS_MAX)
    const { status, body } = await exchange({ socketPath, method: 'GET', path: '/status', signal })
    if (status === 200) return { kind: 'answering', status: JSON.parse(body) as NodeStatus }
    // An older node answers a query that it does not know with 400.
    if (status === 400) return { kind: 'answering', status: null }
    const { message } = JSON.parse(body) as { message?: string }
    return message ?? `it answered with status ${status}`
  } catch (cause) {
    const { code = '', name, message } = cause as NodeJS.ErrnoException
    if (STOPPED_CODES.includes(code)) return null
    if (name === 'AbortError' || name === 'TimeoutError') return `no answer within ${ANSWER_MS_MAX / 1000} s`
    return code === 'EACCES' ? 'this user has no permission to use its socket' : message
  }
}

/** The process that holds the lock of the directory; null: none, or this system does not report it. */
async function lockHolder(dataDir: string): Promise<number | null> {
  try {
    const { dev, ino } = await stat(join(dataDir, 'lock', 'LOCK'))
    return holderOf({ dev, ino }, await readFile('/proc/locks', 'utf8'))
  } catch {
    // No directory, no lock, or not Linux.
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
