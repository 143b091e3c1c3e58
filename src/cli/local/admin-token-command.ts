/**
 * `holdfast admin-token create|list|revoke`: the only way to create an admin token. [admin: Authentication 2] [decisions 1]
 *
 * Owns: the choice between the running node (local socket) and a pending record for a stopped one.
 * Rule: this process creates the token and prints it once; only its hash is sent or stored.
 */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { newAdminToken } from '../../access/admin-token.ts'
import { readBinding } from '../../access/caller-binding.ts'
import type { CallerBinding } from '../../state-machine/tenants/records.ts'
import { parseDuration, ValueError } from '../../config/parse-value.ts'
import type { AdminRole } from '../../state-machine/base/origin.ts'
import { leaveTokenRequest } from '../../workers/pending-tokens.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { askLocalNode } from '../base/local-client.ts'

export interface AdminTokenOptions {
  readonly name: string
  readonly role: AdminRole
  readonly tenant?: string
  readonly expiresIn?: string
  readonly expiresAt?: string
  /** As commander stores --no-expiry: true unless the option is given. */
  readonly expiry: boolean
  /** As commander stores --no-keys: true unless the option is given. */
  readonly keys: boolean
  readonly allowAddress?: readonly string[]
  readonly clientCertificate?: readonly string[]
  readonly data: string
  readonly json?: boolean
}

interface DataOptions {
  readonly data: string
  readonly json?: boolean
}

const DEFAULT_LIFETIME = '90d'

function usage(message: string, hint: string): CommandError {
  return new CommandError(message, { code: 'invalid_argument', hint, exitCode: EXIT.usage })
}

/** Milliseconds since 1970; null never expires. */
export function tokenExpiry(
  options: Pick<AdminTokenOptions, 'expiresIn' | 'expiresAt' | 'expiry'>,
  now: number,
): number | null {
  if (!options.expiry) return null
  if (options.expiresAt !== undefined) {
    const time = /^\d{4}-\d\d-\d\d([Tt].+)?$/.test(options.expiresAt)
      ? Date.parse(options.expiresAt)
      : Number.NaN
    if (Number.isNaN(time))
      throw usage(
        `--expires-at '${options.expiresAt}' is not an RFC 3339 time`,
        'Write it like 2027-01-31 or 2027-01-31T12:00:00Z.',
      )
    if (time <= now)
      throw usage(`--expires-at '${options.expiresAt}' has passed`, 'Give a time in the future.')
    return time
  }
  try {
    return now + parseDuration(options.expiresIn ?? DEFAULT_LIFETIME)
  } catch (cause) {
    if (!(cause instanceof ValueError)) throw cause
    throw usage(`--expires-in: ${cause.message}`, '')
  }
}

function dataDirectory(given: string): string {
  const dir = resolve(given)
  if (!statSync(dir, { throwIfNoEntry: false })?.isDirectory()) {
    throw usage(`The data directory '${given}' does not exist`, 'Set --data to the node.data_dir of a node.')
  }
  return dir
}

export async function createToken(options: AdminTokenOptions): Promise<number> {
  const dataDir = dataDirectory(options.data)
  const { token, tokenId, sha256 } = newAdminToken()
  const expiresAt = tokenExpiry(options, Date.now())
  const record = {
    tokenId,
    name: options.name,
    role: options.role,
    tenantId: options.tenant ?? null,
    expiresAt,
    sha256,
    ...restrictionsOf(options),
  }
  const answer = await askLocalNode(dataDir, 'POST', '/admin-tokens', record)
  if (answer === null) await leaveTokenRequest(dataDir, { wish: 'create', token: record })
  else await requireRestrictions(answer, record, dataDir)
  const isInForce = answer !== null
  const expires = expiresAt === null ? null : new Date(expiresAt).toISOString()
  if (options.json) {
    const { role, name } = options
    const { tenantId } = record
    const restrictions = restrictionsOf(options)
    process.stdout.write(
      `${JSON.stringify({ token, tokenId, name, role, tenantId, expiresAt: expires, inForce: isInForce, ...restrictions })}\n`,
    )
    return EXIT.done
  }
  process.stdout.write(`${token}\n`)
  process.stderr.write(
    `Token ${tokenId} (${options.role}), expires ${expires ?? 'never'}. It is shown only here.\n`,
  )
  if (!isInForce) process.stderr.write('The node is stopped: the token becomes valid when it starts.\n')
  return EXIT.done
}

interface Restrictions {
  readonly noKeys?: true
  readonly boundTo?: CallerBinding
}

function restrictionsOf({ keys, allowAddress, clientCertificate }: AdminTokenOptions): Restrictions {
  const boundTo = readBinding({ addresses: allowAddress, certificates: clientCertificate })
  return { ...(keys ? {} : { noKeys: true }), ...(boundTo === undefined ? {} : { boundTo }) }
}

/** A node of an older version passes over what it does not know: then the token may do too much, and is taken back. */
async function requireRestrictions(
  answer: unknown,
  { tokenId, ...asked }: Restrictions & { readonly tokenId: string },
  dataDir: string,
): Promise<void> {
  const { noKeys, boundTo } = answer as Restrictions
  const isWhole = asked.noKeys === noKeys && (asked.boundTo === undefined) === (boundTo === undefined)
  if (isWhole) return
  await askLocalNode(dataDir, 'POST', `/admin-tokens/${tokenId}/revoke`)
  throw new CommandError('Cannot create the token: the running node does not know these restrictions', {
    code: 'version_incompatible',
    hint: 'Upgrade the node first. The token was revoked.',
    exitCode: EXIT.refused,
  })
}

export async function listTokens(options: DataOptions): Promise<number> {
  const answer = await askLocalNode(dataDirectory(options.data), 'GET', '/admin-tokens')
  if (answer === null) {
    throw new CommandError('Cannot list admin tokens: no node runs on this data directory', {
      code: 'node_stopped',
      hint: 'Start the node, or give the data directory of a running node.',
      exitCode: EXIT.unreachable,
    })
  }
  const { tokens } = answer as {
    tokens: {
      tokenId: string
      name: string
      role: string
      tenantId: string | null
      createdAt: number
      expiresAt: number | null
      revokedAt: number | null
      lastUsedAt: number | null
      noKeys?: true
      boundTo?: CallerBinding
    }[]
  }
  if (options.json) {
    const listed = tokens.map((token) => ({ ...token, ...timesOf(token) }))
    process.stdout.write(`${JSON.stringify({ tokens: listed })}\n`)
    return EXIT.done
  }
  for (const { tokenId, name, role, tenantId, expiresAt, revokedAt, lastUsedAt, ...rest } of tokens) {
    const state =
      revokedAt === null
        ? `expires ${expiresAt === null ? 'never' : new Date(expiresAt).toISOString()}`
        : 'revoked'
    const withheld = restrictionText(rest)
    const used = `used ${lastUsedAt === null ? 'never' : new Date(lastUsedAt).toISOString()}`
    process.stdout.write(
      `${tokenId}  ${role.padEnd(8)}  ${(tenantId ?? 'all tenants').padEnd(20)}  ${state.padEnd(32)}  ${used.padEnd(29)}  ${name}${withheld}\n`,
    )
  }
  return EXIT.done
}

const timeText = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())

/** The local socket gives milliseconds, for it belongs to this program; what is printed is for others. [decisions 0] */
function timesOf(token: {
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  readonly lastUsedAt: number | null
}) {
  const { createdAt, expiresAt, revokedAt, lastUsedAt } = token
  return {
    createdAt: timeText(createdAt),
    expiresAt: timeText(expiresAt),
    revokedAt: timeText(revokedAt),
    lastUsedAt: timeText(lastUsedAt),
  }
}

export async function revokeToken(tokenId: string, options: DataOptions): Promise<number> {
  if (!/^adm_[0-9a-f]{16}$/.test(tokenId))
    throw usage(
      `'${tokenId}' is not a token id`,
      'A token id is adm_ and 16 hex digits; see holdfast admin-token list.',
    )
  const dataDir = dataDirectory(options.data)
  const answer = await askLocalNode(dataDir, 'POST', `/admin-tokens/${tokenId}/revoke`)
  if (answer === null) await leaveTokenRequest(dataDir, { wish: 'revoke', tokenId })
  if (options.json)
    process.stdout.write(`${JSON.stringify({ tokenId, revoked: true, inForce: answer !== null })}\n`)
  else
    process.stderr.write(
      answer === null
        ? `The node is stopped: ${tokenId} is revoked when it starts.\n`
        : `${tokenId} is revoked.\n`,
    )
  return EXIT.done
}

function restrictionText({ noKeys, boundTo }: Restrictions): string {
  const { addresses = [], certificates = [] } = boundTo ?? {}
  const words = [
    ...(noKeys === true ? ['makes no keys'] : []),
    ...(addresses.length === 0 ? [] : [`from ${addresses.join(', ')}`]),
    ...(certificates.length === 0 ? [] : [`with ${certificates.join(', ')}`]),
  ]
  return words.length === 0 ? '' : `  (${words.join('; ')})`
}
