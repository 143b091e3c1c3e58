/**
 * The socket inside the data directory: what the command line of the same machine may ask of a running node.
 *
 * Owns: requests about admin tokens, the check of the audit log and how it is stored, how schedules of backups and the node stand. Authority is filesystem access: the socket has mode 0600 and there is no
 * other check, so nothing is ever served here that a reader of the data directory could not do anyway. [decisions 1]
 */
import { rmSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Condition } from '../../../cluster/index.ts'
import { createAdminToken, parseNewAdminToken } from '../../operations/admin-tokens/create-admin-token.ts'
import { listAdminTokens } from '../../operations/admin-tokens/list-admin-tokens.ts'
import { revokeAdminToken } from '../../operations/admin-tokens/revoke-admin-token.ts'
import { auditStatus } from '../../operations/audit-segments/audit-status.ts'
import { parseNotedHead, verifyAuditLog } from '../../operations/audit/verify-audit-log.ts'
import type { Services } from '../../operations/base/services.ts'
import { Refusal } from '../../base/refusal.ts'
import { backupStatus } from '../../operations/backup-plans/backup-status.ts'
import { LocalAudit } from './local-audit.ts'
import { nodePlacement } from './node-placement.ts'
import { nodeStatus } from './node-status.ts'

const BODY_BYTES_MAX = 64 * 1024
const PATH_CHARACTERS_MAX = 1024

async function readJson(request: IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of request) {
    size += piece.length
    if (size > BODY_BYTES_MAX) throw new Refusal('entity_too_large', 'The request is larger than 64 KiB')
    pieces.push(piece)
  }
  try {
    return JSON.parse(Buffer.concat(pieces).toString('utf8') || 'null')
  } catch (cause) {
    throw new Refusal('invalid_json', 'The request is not JSON', { cause })
  }
}

interface LocalRoute {
  readonly operation: string
  readonly answer: (services: Services, request: IncomingMessage) => Promise<unknown>
}

function routeOf({ method = '', url = '' }: IncomingMessage): LocalRoute {
  const revoke = /^\/admin-tokens\/([A-Za-z0-9_]+)\/revoke$/.exec(url)?.[1]
  if (method === 'POST' && url === '/admin-tokens')
    return {
      operation: 'createAdminToken',
      answer: async (services, request) =>
        createAdminToken(services, parseNewAdminToken(await readJson(request))),
    }
  if (method === 'GET' && url === '/admin-tokens')
    return {
      operation: 'listAdminTokens',
      answer: async (services) => ({ tokens: await listAdminTokens(services) }),
    }
  if (method === 'POST' && revoke !== undefined)
    return { operation: 'revokeAdminToken', answer: (services) => revokeAdminToken(services, revoke) }
  if (method === 'POST' && url === '/audit/verify')
    return {
      operation: 'verifyAuditLog',
      answer: async (services, request) => verifyAuditLog(services, parseNotedHead(await readJson(request))),
    }
  if (method === 'GET' && url === '/audit/standing')
    return { operation: 'readAuditStanding', answer: (services) => auditStatus(services) }
  if (method === 'GET' && url === '/backups/status')
    return { operation: 'readBackupStatus', answer: async (services) => backupStatus(services) }
  if (method === 'GET' && url === '/placement')
    return { operation: 'readNodePlacement', answer: (services) => nodePlacement(services) }
  if (method === 'GET' && url === '/status')
    return { operation: 'readNodeStatus', answer: async (services) => nodeStatus(services) }
  return {
    operation: 'unknown',
    answer: async () => {
      throw new Refusal('not_found', `There is no ${method} ${url} on the local socket`)
    },
  }
}

async function serve(services: Services, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { operation, answer } = routeOf(request)
  const { method = '', url: path = '' } = request
  const audit = new LocalAudit(services, { operation, method, path: path.slice(0, PATH_CHARACTERS_MAX) })
  const send = (status: number, body: object, code: string | null = null): void => {
    audit.end(status, code)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
  const refuse = (status: number, { code, message }: { code: string; message: string }): void =>
    send(status, { code, message }, code)
  try {
    services.audit.admit()
    send(200, (await answer(audit.services, request)) as object)
  } catch (error: unknown) {
    if (error instanceof Refusal) return refuse(400, error)
    if (error instanceof Condition) return refuse(503, error)
    services.logger.error({ err: error }, 'local request failed')
    refuse(500, { code: 'internal_error', message: 'The node could not answer, see its log' })
  }
}

/** Resolves when the socket can be used. A socket left by a dead process is replaced: the data directory's lock is held. */
export async function startLocalServer(services: Services, socketPath: string): Promise<Server> {
  rmSync(socketPath, { force: true })
  const server = createServer((request, response) => void serve(services, request, response))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    // Created with no rights for others from the first moment, not only after chmod.
    const before = process.umask(0o177)
    server.listen(socketPath, resolve)
    process.umask(before)
  })
  await chmod(socketPath, 0o600)
  return server
}
