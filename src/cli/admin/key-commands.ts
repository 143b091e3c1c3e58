/**
 * `holdfast key`: access keys of a tenant.
 *
 * Rule: a secret is printed once, on standard output, when the service returns it, and in no error.
 */
import type { AccessKeyWithSecret } from '../../client/generated/admin-operations.ts'
import { tokenExpiry } from '../local/admin-token-command.ts'
import { askAdmin, pagesOf } from '../base/asking.ts'
import { type AdminAccessOptions, tenantOf } from '../base/cluster-access.ts'
import { EXIT } from '../base/exit.ts'
import { note, printable, printJson, printLine, printTable } from '../base/printing.ts'
import { type ChangeOptions, rehearsal, reportChange } from './outcome.ts'
import { type ScopeOptions, scopesOf } from './scope-options.ts'

interface KeyOptions extends AdminAccessOptions {
  readonly tenant?: string
}

export interface ListKeysOptions extends KeyOptions {
  readonly json?: boolean
}

export interface NewSecretOptions extends KeyOptions, ChangeOptions, ScopeOptions {
  readonly expiresIn?: string
  readonly expiresAt?: string
  readonly allowAddress?: readonly string[]
  readonly clientCertificate?: readonly string[]
}

export interface CreateKeyOptions extends NewSecretOptions {
  readonly name?: string
  /** Id of a service account. */
  readonly account?: string
}

export interface RevokeKeyOptions extends KeyOptions, ChangeOptions {
  readonly reason: string
}

export function listKeys(options: ListKeysOptions): Promise<number> {
  const params = { id: tenantOf(options) }
  return askAdmin(options, async (client) => {
    for await (const { keys } of pagesOf((from) => client.call('listTenantKeys', { params, query: from })))
      if (options.json) for (const key of keys) printJson(key)
      else
        printTable(
          keys.map(({ accessKeyId, status, expiresAt, lastUsedAt, name, scopes }) => [
            accessKeyId,
            status,
            expiresAt === null ? 'never expires' : `expires ${expiresAt}`,
            lastUsedAt === null ? 'never used' : `used ${lastUsedAt}`,
            printable(name ?? '-'),
            printable(scopes),
          ]),
        )
    return EXIT.done
  })
}

export function createKey(options: CreateKeyOptions): Promise<number> {
  const params = { id: tenantOf(options) }
  const { name, account } = options
  const named = {
    ...(name === undefined ? {} : { name }),
    ...(account === undefined ? {} : { accountId: account }),
  }
  const body = { ...named, ...limitsOf(options) }
  return askAdmin(options, async (client) => {
    const { answer } = await client.call('createTenantKey', { params, body, query: rehearsal(options) })
    return reportChange<AccessKeyWithSecret>(answer, options, printSecret)
  })
}

export function rotateKey(keyId: string, options: NewSecretOptions): Promise<number> {
  const params = { id: tenantOf(options), keyId }
  return askAdmin(options, async (client) => {
    const call = { params, body: limitsOf(options), query: rehearsal(options) }
    return reportChange<AccessKeyWithSecret>(
      (await client.call('rotateTenantKey', call)).answer,
      options,
      printSecret,
    )
  })
}

export function revokeKey(keyId: string, options: RevokeKeyOptions): Promise<number> {
  const params = { id: tenantOf(options), keyId }
  return askAdmin(options, async (client) => {
    const call = { params, body: { reason: options.reason }, query: rehearsal(options) }
    const { answer } = await client.call('revokeTenantKey', call)
    return reportChange<object>(answer, options, () => note(`${keyId} is revoked`))
  })
}

interface KeyLimits {
  readonly scopes?: string
  readonly expiresAt?: string
  readonly allowedAddresses?: readonly string[]
  readonly clientCertificates?: readonly string[]
}

function limitsOf(options: NewSecretOptions): KeyLimits {
  const scopes = scopesOf(options)
  const isLimited = options.expiresIn !== undefined || options.expiresAt !== undefined
  const expiry = isLimited ? tokenExpiry({ ...options, expiry: true }, Date.now()) : null
  const { allowAddress, clientCertificate } = options
  return {
    ...(allowAddress === undefined ? {} : { allowedAddresses: allowAddress }),
    ...(clientCertificate === undefined ? {} : { clientCertificates: clientCertificate }),
    ...(scopes === null ? {} : { scopes }),
    ...(expiry === null ? {} : { expiresAt: new Date(expiry).toISOString() }),
  }
}

/** Lines that a shell can source: the environment of the data commands. */
function printSecret({ accessKeyId, secretKey, scopes, expiresAt }: AccessKeyWithSecret): void {
  printLine(`HOLDFAST_ACCESS_KEY_ID=${accessKeyId}\nHOLDFAST_SECRET_KEY=${secretKey}`)
  note(`Scopes ${printable(scopes)}, expires ${expiresAt ?? 'never'}. The secret is shown only here.`)
}
