/**
 * Tags, retention and legal hold of a new version: as headers of its upload, and as headers of answers. [decisions 3]
 */
import type { IncomingHttpHeaders } from 'node:http'
import { checkTags } from '../../operations/objects/object-tags.ts'
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

/** Throws Refusal invalid_tag, invalid_request. */
export function readSettings(headers: IncomingHttpHeaders): VersionSettings {
  return {
    tags: readTags(headerText(headers, 'x-service-tagging')),
    retention: readRetention(
      headerText(headers, 'x-service-retention-mode'),
      headerText(headers, 'x-service-retain-until'),
    ),
    legalHold: readHold(headerText(headers, 'x-service-legal-hold')),
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

function readTags(text: string | undefined): Tags {
  const pairs = (text ?? '').split('&').filter((pair) => pair !== '')
  return checkTags(
    pairs.map((pair) => {
      const at = pair.indexOf('=')
      return at === -1
        ? ([decode(pair), ''] as const)
        : ([decode(pair.slice(0, at)), decode(pair.slice(at + 1))] as const)
    }),
  )
}

/** As forms write it: "+" is a space. Node shows headers with one character a byte. */
function decode(part: string): string {
  try {
    return decodeURIComponent(Buffer.from(part.replaceAll('+', ' '), 'latin1').toString('utf8'))
  } catch (cause) {
    throw new Refusal(
      'invalid_tag',
      `X-Service-Tagging contains "${part.slice(0, 80)}", which is not percent-encoded UTF-8`,
      {
        cause,
      },
    )
  }
}

function readRetention(mode: string | undefined, until: string | undefined): RetentionRecord | null {
  if (mode === undefined && until === undefined) return null
  const known = RETENTION_MODES.find((name) => name === mode)
  if (known === undefined || until === undefined)
    throw new Refusal(
      'invalid_request',
      'Retention takes two headers: X-Service-Retention-Mode (GOVERNANCE or COMPLIANCE) and X-Service-Retain-Until',
    )
  return { mode: known, until: readTime('X-Service-Retain-Until', until) }
}

function readHold(status: string | undefined): boolean {
  if (status === undefined || status === 'OFF') return false
  if (status === 'ON') return true
  throw new Refusal('invalid_request', `X-Service-Legal-Hold is "${status.slice(0, 40)}": give ON or OFF`)
}
