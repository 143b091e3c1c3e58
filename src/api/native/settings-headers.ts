/**
 * Tags, retention and legal hold of a new version: as headers of its upload, and as headers of answers. [decisions 3]
 */
import type { IncomingHttpHeaders } from 'node:http'
import { checkTags } from '../../operations/base/tags.ts'
import { Refusal } from '../../base/refusal.ts'
import type { RetentionRecord, Tags, VersionSettings } from '../../state-machine/versions/records.ts'
import { headerText } from '../header-text.ts'
import type { HeaderNote } from '../route.ts'
import { readTime, timeText } from '../wire.ts'

export const SETTINGS_HEADERS: readonly HeaderNote[] = [
  {
    name: 'X-Service-Tagging',
    description: 'Tags, written like a query: env=prod&team=web',
    schema: { pattern: '^([^%]|%[0-9A-Fa-f]{2})*$' },
  },
  {
    name: 'X-Service-Retention-Mode',
    description: 'GOVERNANCE or COMPLIANCE; needs X-Service-Retain-Until',
    schema: { enum: ['GOVERNANCE', 'COMPLIANCE'] },
  },
  {
    name: 'X-Service-Retain-Until',
    description: 'RFC 3339; needs X-Service-Retention-Mode',
    schema: { format: 'date-time' },
  },
  { name: 'X-Service-Legal-Hold', description: 'ON or OFF', schema: { enum: ['ON', 'OFF'] } },
]

export const RETENTION_MODES = [
  'GOVERNANCE',
  'COMPLIANCE',
] as const satisfies readonly RetentionRecord['mode'][]

/** What an API calls the headers; messages name them so. */
export interface SettingsNames {
  readonly tagging: string
  readonly mode: string
  readonly until: string
  readonly hold: string
}

const OWN_NAMES: SettingsNames = {
  tagging: 'X-Service-Tagging',
  mode: 'X-Service-Retention-Mode',
  until: 'X-Service-Retain-Until',
  hold: 'X-Service-Legal-Hold',
}

/** Throws Refusal invalid_tag, invalid_request. */
export function readSettings(
  headers: IncomingHttpHeaders,
  names: SettingsNames = OWN_NAMES,
): VersionSettings {
  const text = (name: string): string | undefined => headerText(headers, name.toLowerCase())
  return {
    tags: readTags(names, text(names.tagging)),
    retention: readRetention(names, text(names.mode), text(names.until)),
    legalHold: readHold(names, text(names.hold)),
  }
}

/** What answers say of them; a bucket without locks has none to speak of. */
export function settingsHeaders(
  { tags, retention, legalHold }: VersionSettings,
  { objectLockEnabled }: { readonly objectLockEnabled: boolean },
): Record<string, string> {
  const until =
    retention === null
      ? {}
      : {
          'x-service-retention-mode': retention.mode,
          'x-service-retain-until': timeText(retention.until),
        }
  return {
    'x-service-tag-count': `${Object.keys(tags).length}`,
    ...until,
    ...(objectLockEnabled ? { 'x-service-legal-hold': legalHold ? 'ON' : 'OFF' } : {}),
  }
}

function readTags({ tagging }: SettingsNames, text: string | undefined): Tags {
  const pairs = (text ?? '').split('&').filter((pair) => pair !== '')
  return checkTags(
    pairs.map((pair) => {
      const at = pair.indexOf('=')
      return at === -1
        ? ([decode(tagging, pair), ''] as const)
        : ([decode(tagging, pair.slice(0, at)), decode(tagging, pair.slice(at + 1))] as const)
    }),
  )
}

/** As forms write it: "+" is a space. Node shows headers with one character a byte. */
function decode(header: string, part: string): string {
  try {
    return decodeURIComponent(Buffer.from(part.replaceAll('+', ' '), 'latin1').toString('utf8'))
  } catch (cause) {
    throw new Refusal(
      'invalid_tag',
      `${header} contains "${part.slice(0, 80)}", which is not percent-encoded UTF-8`,
      {
        cause,
      },
    )
  }
}

function readRetention(
  names: SettingsNames,
  mode: string | undefined,
  until: string | undefined,
): RetentionRecord | null {
  if (mode === undefined && until === undefined) return null
  const known = RETENTION_MODES.find((name) => name === mode)
  if (known === undefined || until === undefined)
    throw new Refusal(
      'invalid_request',
      `Retention takes two headers: ${names.mode} (GOVERNANCE or COMPLIANCE) and ${names.until}`,
    )
  return { mode: known, until: readTime(names.until, until) }
}

function readHold({ hold }: SettingsNames, status: string | undefined): boolean {
  if (status === undefined || status === 'OFF') return false
  if (status === 'ON') return true
  throw new Refusal('invalid_request', `${hold} is "${status.slice(0, 40)}": give ON or OFF`)
}
