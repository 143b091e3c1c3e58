/**
 * Asks the running node of a data directory through its local socket.
 *
 * Owns: telling "the node is stopped" from "the node said no". Returns null for the first.
 */
import { request } from 'node:http'
import { CommandError, EXIT } from './exit.ts'
import { localSocketPath } from '../../base/local-socket.ts'

const ANSWER_BYTES_MAX = 16 * 1024 * 1024
export const STOPPED_CODES: readonly string[] = ['ENOENT', 'ECONNREFUSED', 'ENOTSOCK']

interface LocalAnswer {
  readonly status: number
  readonly body: string
}

interface LocalRequest {
  readonly socketPath: string
  readonly method: string
  readonly path: string
  readonly body?: unknown
  /** Ends a wait for a node that stands still. */
  readonly signal?: AbortSignal
}

export function exchange({ body, ...target }: LocalRequest): Promise<LocalAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ ...target, headers: { 'content-type': 'application/json' } }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (piece: string) => {
        text += piece
        if (text.length > ANSWER_BYTES_MAX) response.destroy(new Error('the answer is too large'))
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }))
      response.on('error', reject)
    })
    outgoing.on('error', reject)
    outgoing.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

/** Null when no node runs on this data directory. Throws CommandError when it answers no. */
export async function askLocalNode(
  dataDir: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
  const socketPath = localSocketPath(dataDir)
  if (socketPath === null) return null
  let answer: LocalAnswer
  try {
    answer = await exchange({ socketPath, method, path, body })
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException
    if (STOPPED_CODES.includes(code)) return null
    const hint =
      code === 'EACCES' ? 'Run this as the user that runs the node.' : 'Is the node shutting down? Try again.'
    throw new CommandError(`Cannot reach the node of '${dataDir}'`, {
      code: 'node_unreachable',
      hint,
      exitCode: EXIT.unreachable,
      cause,
    })
  }
  const parsed: unknown = JSON.parse(answer.body)
  if (answer.status === 200) return parsed
  const { code, message } = parsed as { code: string; message: string }
  const exitCode = answer.status === 503 ? EXIT.unreachable : EXIT.refused
  throw new CommandError(message, {
    code,
    hint: answer.status === 503 ? 'The cluster has no majority right now; try again.' : '',
    exitCode,
  })
}
