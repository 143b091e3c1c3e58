/**
 * The console as one part of the configuration.
 *
 * Owns: which settings a log-in at an identity provider needs. Rule: neither the code of a log-in nor a session travels in plain text beyond this
 * machine.
 */
import { isPlainHttpElsewhere } from '../base/plain-http.ts'
import { FaultError } from './config-fault.ts'
import { adminUrlOf } from './listener-urls.ts'
import type { Reader } from './reader.ts'
import type { Config, OidcSettings, RoleRule } from './types.ts'

/** Throws FaultError. */
export function consoleSettings(
  read: Reader,
  listening: Pick<Config, 'listeners' | 'adminTls'>,
): Config['console'] {
  const url = read.has('console.url') ? read.text('console.url') : adminUrlOf(listening)
  return { url, oidc: read.has('console.oidc.issuer') ? oidc(read, url) : null }
}

function oidc(read: Reader, consoleUrl: string): OidcSettings {
  const issuer = read.text('console.oidc.issuer')
  const rules = read.get<readonly RoleRule[]>('console.oidc.rules')
  const scopes = read.text('console.oidc.scopes').split(' ')
  const sessionMs = read.number('console.oidc.session')
  requireSheltered('console.oidc.issuer', issuer)
  if (!URL.canParse(consoleUrl))
    throw new FaultError(
      'console.oidc.issuer needs console.url, because listeners.admin is no address for browsers',
      'Give the origin at which browsers reach the console.',
    )
  requireSheltered('console.url, or listeners.admin without it,', consoleUrl)
  if (!read.has('console.oidc.client_id'))
    throw new FaultError('console.oidc.issuer needs console.oidc.client_id', EXAMPLE)
  if (rules.length === 0)
    throw new FaultError(
      'console.oidc.issuer needs console.oidc.rules, without which no person has a role',
      EXAMPLE,
    )
  if (!scopes.includes('openid'))
    throw new FaultError(
      'console.oidc.scopes does not have openid',
      'Without it the provider sends no ID token.',
    )
  return {
    issuer,
    name: read.text('console.oidc.name'),
    clientId: read.text('console.oidc.client_id'),
    clientSecretFile: read.textOrNull('console.oidc.client_secret_file'),
    ca: read.textOrNull('console.oidc.ca'),
    scopes,
    groupsClaim: read.text('console.oidc.groups_claim'),
    nameClaim: read.text('console.oidc.name_claim'),
    rules,
    sessionMs,
    idleMs: Math.min(read.number('console.oidc.idle'), sessionMs),
    logsOutAtProvider: read.get<boolean>('console.oidc.log_out_at_provider'),
  }
}

const EXAMPLE = 'docs/guide/log-in.md shows a whole configuration.'

function requireSheltered(what: string, url: string): void {
  if (isPlainHttpElsewhere(new URL(url)))
    throw new FaultError(
      `${what} is plain HTTP beyond this machine`,
      'Give an https:// URL: anyone who reads the answers can log in as another person.',
    )
}
