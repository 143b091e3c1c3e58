/**
 * One command over the admin API: a client with the operator's token, closed at the end, its errors told to a person.
 *
 * Rule: a token comes from a file or the environment, never from the command line, which others can read.
 */
import { readFile } from 'node:fs/promises'
import { type AdminClient, adminClient, ApiError, NoAnswerError } from '../client/clients.ts'
import { CommandError, EXIT } from './exit.ts'

export interface SessionOptions {
  readonly adminEndpoint: string
  readonly tokenFile?: string
}

/** Resolves with what `work` does. Throws CommandError. */
export async function asAdmin<T>(
  { adminEndpoint, tokenFile }: SessionOptions,
  work: (client: AdminClient) => Promise<T>,
): Promise<T> {
  const client = adminClient({ endpoints: adminEndpoint.split(','), token: await adminToken(tokenFile) })
  try {
    return await work(client)
  } catch (cause) {
    throw told(cause)
  } finally {
    await client.close()
  }
}

function told(cause: unknown): unknown {
  if (cause instanceof ApiError) {
    const hint = `Request ${cause.requestId ?? 'without an id'}; what the code means: docs/errors.md.`
    const isRefused = cause.status === 409 || cause.status === 412
    const exitCode = isRefused ? EXIT.refused : EXIT.failed
    return new CommandError(cause.message, { code: cause.code, hint, exitCode })
  }
  if (!(cause instanceof NoAnswerError)) return cause
  const hint = 'Name the admin address of a running node with --admin-endpoint.'
  return new CommandError(cause.message, { code: 'unreachable', hint, exitCode: EXIT.unreachable })
}

async function adminToken(file: string | undefined): Promise<string> {
  const { HOLDFAST_ADMIN_TOKEN: given } = process.env
  const token = file === undefined ? given : await readFile(file, 'utf8')
  if (token !== undefined && token.trim() !== '') return token.trim()
  throw new CommandError('There is no admin token', {
    code: 'token_missing',
    hint: 'Set HOLDFAST_ADMIN_TOKEN, or name a file that holds one with --token-file.',
    exitCode: EXIT.usage,
  })
}
