/**
 * Admin tokens that were minted or revoked while the node was stopped.
 *
 * Owns: the folder `pending/` of the data directory: one JSON file per request, hash only, never a token.
 * Rule: a file is removed only after its request is committed; a request that is committed twice changes nothing.
 */
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '../../cluster/index.ts'
import {
  createAdminToken,
  type NewAdminTokenInput,
  parseNewAdminToken,
} from '../operations/admin-tokens/create-admin-token.ts'
import { revokeAdminToken } from '../operations/admin-tokens/revoke-admin-token.ts'
import type { Services } from '../operations/base/services.ts'
import { Refusal } from '../base/refusal.ts'
import type { Command, Reply } from '../state-machine/commands.ts'
import { type Origin, SYSTEM_ORIGIN } from '../state-machine/base/origin.ts'

export type PendingTokenRequest =
  | { readonly wish: 'create'; readonly token: NewAdminTokenInput }
  | { readonly wish: 'revoke'; readonly tokenId: string }

const pendingDir = (dataDir: string): string => join(dataDir, 'pending')

/** Durable when it resolves: file and folder are synced. */
export async function leaveTokenRequest(dataDir: string, requested: PendingTokenRequest): Promise<void> {
  const folder = pendingDir(dataDir)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const tokenId = requested.wish === 'create' ? requested.token.tokenId : requested.tokenId
  const file = join(folder, `${requested.wish}-${tokenId}.json`)
  const handle = await open(`${file}.tmp`, 'w', 0o600)
  try {
    await handle.writeFile(JSON.stringify(requested))
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(`${file}.tmp`, file)
  const directory = await open(folder, 'r')
  await directory.sync()
  await directory.close()
}

async function readTokenRequests(folder: string): Promise<readonly string[]> {
  try {
    // 'create-…' sorts before 'revoke-…': a token made and revoked while stopped ends revoked.
    return (await readdir(folder)).filter((name) => name.endsWith('.json')).sort()
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw cause
  }
}

/** A request that the command line stored while the node was stopped is audited like one to a running node. */
function audited(services: Services, operation: string, name: string): Services {
  const origin: Origin = {
    ...SYSTEM_ORIGIN,
    requestId: name,
    operation,
    method: 'POST',
    path: `/pending/${name}`,
    elapsedMs: 0,
    successStatus: 200,
    nodeId: services.cluster.nodeId,
  }
  const propose = (command: Command): Promise<Reply> => services.propose(command, origin)
  return { ...services, propose: propose as Services['propose'] }
}

async function grant(services: Services, name: string, text: string): Promise<void> {
  const requested = JSON.parse(text) as Partial<{ wish: string; token: unknown; tokenId: string }>
  if (requested.wish === 'create')
    await createAdminToken(audited(services, 'createAdminToken', name), parseNewAdminToken(requested.token))
  else if (requested.wish === 'revoke' && typeof requested.tokenId === 'string')
    await revokeAdminToken(audited(services, 'revokeAdminToken', name), requested.tokenId)
  else throw new Refusal('invalid_request', 'The record asks for nothing that is known')
}

/** Runs once the cluster answers. A refused record stays in place and is named in the log; Conditions pass to the caller. */
export async function grantTokenRequests(services: Services, dataDir: string, logger: Logger): Promise<void> {
  const folder = pendingDir(dataDir)
  for (const name of await readTokenRequests(folder)) {
    try {
      await grant(services, name, await readFile(join(folder, name), 'utf8'))
    } catch (error) {
      if (!(error instanceof Refusal) && !(error instanceof SyntaxError)) throw error
      logger.error({ file: name, err: error }, 'pending admin token refused')
      continue
    }
    await rm(join(folder, name))
    logger.info({ file: name }, 'pending admin token granted')
  }
}
