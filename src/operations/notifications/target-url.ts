/**
 * Which URLs a config may name. [decisions 9]
 *
 * Owns: what follows from the text only. The deliverer resolves the name again at every connection.
 */
import { isIP } from 'node:net'
import type { Config } from '../../config/types.ts'
import { Refusal } from '../../base/refusal.ts'
import { isBeyondPaths, isOpened } from './allowed-origin.ts'
import { isPublicAddress } from './public-address.ts'

const URL_CHARACTERS_MAX = 2048

export type TargetSettings = Config['notifications']

/** What the settings allow, and to whom. */
export interface TargetPolicy {
  readonly settings: TargetSettings
  readonly tenantId: string
}

/** Throws Refusal invalid_request, unsupported_target. */
export function checkTarget(text: string, policy: TargetPolicy): void {
  if (/^arn:/i.test(text))
    throw new Refusal(
      'unsupported_target',
      `The target "${shown(text)}" is not supported: give the URL of a webhook`,
    )
  const fault = targetFault(text, policy)
  if (fault !== null)
    throw new Refusal('invalid_request', `The url "${shown(text)}" is not accepted: ${fault}`)
}

function targetFault(text: string, { settings, tenantId }: TargetPolicy): string | null {
  if (text.length > URL_CHARACTERS_MAX) return `it has more than ${URL_CHARACTERS_MAX} characters`
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return 'give one such as https://app.example/hook'
  const url = new URL(text)
  if (url.protocol === 'http:' && !settings.allowHttp)
    return 'use https; an operator can allow http with notifications.allow_http'
  if (url.username !== '' || url.password !== '')
    return 'it holds credentials; deliveries are signed, which proves who sends them'
  if (url.hash !== '') return 'leave the fragment out, it is never sent'
  if (isOpened(settings.allowOrigins, url, tenantId)) return null
  if (isBeyondPaths(settings.allowOrigins, url, tenantId))
    return 'its path is none that notifications.allow_origins opens to this tenant at this origin'
  if (!isPortAllowed(url, settings))
    return `port ${portOf(url)} is not allowed: use ${settings.allowPorts.join(' or ')}; an operator can allow it with notifications.allow_ports`
  const host = hostOf(url)
  if (isIP(host) !== 0 && !isPublicAddress(host))
    return `${host} is no public address; an operator can allow it with notifications.allow_origins`
  return null
}

/** Existing configs are not asked again: they continue to deliver. */
function isPortAllowed(url: URL, { allowPorts, allowHttp }: TargetSettings): boolean {
  const port = portOf(url)
  return allowPorts.includes(port) || (allowHttp && port === 80)
}

/** The origin under which configs are counted, of a URL that was accepted. The dot that ends a full name makes no other. */
export function countedOrigin(text: string): string {
  return new URL(text).origin.replace(/\.(?=(:\d+)?$)/, '')
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
}

/** An IPv6 address without its brackets. */
export function hostOf(url: Pick<URL, 'hostname'>): string {
  return url.hostname.replace(/^\[|\]$/g, '')
}

/** For messages: nothing that could be a secret. */
function shown(text: string): string {
  return text
    .replace(/\/\/[^/@]*@/, '//…@')
    .replace(/[?#].*$/s, '')
    .slice(0, 100)
}
