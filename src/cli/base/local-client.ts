/**
 * Sends requests to the running node of a data directory through its local socket.
 *
 * Owns: the difference between a stopped node (null) and a node that refuses (CommandError), and the wait for a node that
 * has only just started: it answers 503 until there is a leader and its master key has been compared.
 */
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { CommandError, EXIT } from './exit.ts'
import { localSocketPath } from '../../base/local-socket.ts'

const ANSWER_BYTES_MAX = 16 * 1024 * 1024
export const STOPPED_CODES: readonly string[] = ['ENOENT', 'ECONNREFUSED', 'ENOTSOCK']

interface LocalAnswer {
  readonly status: number
  readonly body: string
}

interface Problem {
  readonly code: string
  readonly message: string
}

interface LocalRequest {
  readonly socketPath: string
  readonly method: string
  readonly path: string
  readonly body?: unknown
  /** Ends the wait for a node that does not respond. */
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

/** Answers that prove that nothing was done, and that pass without an operator: the request may be sent again. */
const NOT_READY_CODES: readonly string[] = ['leader_not_ready', 'no_leader', 'no_quorum']
const RETRY_EVERY_MS = 250
/** A three-node cluster that has just started is ready within a few seconds. */
const READY_WITHIN_MS = 30_000

/** Null when no node runs on this data directory. Throws CommandError when it refuses, or is not ready within 30 s. */
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
    answer = await exchangeWhenReady({ socketPath, method, path, body })
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException
    if (STOPPED_CODES.includes(code)) return null
    const hint =
      code === 'EACCES' ? 'Run this as the user of the node.' : 'The node may be shutting down; try again.'
    throw new CommandError(`Cannot reach the node of '${dataDir}'`, {
      code: 'node_unreachable',
      hint,
      exitCode: EXIT.unreachable,
      cause,
    })
  }
  const parsed: unknown = JSON.parse(answer.body)
  if (answer.status === 200) return parsed
  const { code, message } = parsed as Problem
  const exitCode = answer.status === 503 ? EXIT.unreachable : EXIT.refused
  throw new CommandError(message, {
    code,
    hint:
      answer.status === 503 ? 'The cluster has no majority, or this node is still starting: try again.' : '',
    exitCode,
  })
}

async function exchangeWhenReady(target: LocalRequest): Promise<LocalAnswer> {
  const giveUpAt = performance.now() + READY_WITHIN_MS
  for (let attempt = 1; ; attempt++) {
    const answer = await exchange(target)
    if (answer.status !== 503) return answer
    const { code, message } = JSON.parse(answer.body) as Problem
    if (!NOT_READY_CODES.includes(code) || performance.now() >= giveUpAt) return answer
    if (attempt === 1) process.stderr.write(`Waiting for the node: ${message}\n`)
    await sleep(RETRY_EVERY_MS)
  }
}
