/**
 * Parses `notifications.allow_origins`: origins, each alone or with the tenants and paths for which it is open.
 *
 * Rule: as in parse-value.ts, an error names what was read and what is accepted. An entry that could be read as wider than it was meant
 * is refused: an unknown field, an empty list.
 */
import { ValueError } from './parse-value.ts'
import { plainPath } from './plain-path.ts'
import type { AllowedOrigin } from './types.ts'

const ORIGINS_MAX = 1000
const INNER_MAX = 1000
const FIELDS = ['origin', 'tenants', 'paths']
const EXAMPLE = '{origin: "https://hooks.internal:8443", tenants: [acme], paths: [/acme]}'

/** Takes a list, or a text in which commas separate the origins. */
export function parseOrigins(value: unknown): readonly AllowedOrigin[] {
  const given: readonly unknown[] = Array.isArray(value) ? value : textsOf(value)
  if (given.length > ORIGINS_MAX)
    throw new ValueError(`expected at most ${ORIGINS_MAX} origins, got ${given.length}`)
  return given.map((entry, n) =>
    typeof entry === 'object' && entry !== null
      ? parseEntry(entry, `entry ${n + 1}`)
      : { origin: parseOrigin(String(entry).trim()), tenants: null, paths: null },
  )
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'object') throw new ValueError(`expected a list of origins, or of ${EXAMPLE}`)
  return `${value as string}`.split(',').filter((text) => text.trim() !== '')
}

export function parseOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  const isOrigin = url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`
  if (!isOrigin || text.endsWith('/'))
    throw new ValueError(
      `expected an origin such as https://hooks.internal:8443, got '${text.slice(0, 100)}'`,
    )
  return url.origin
}

function parseEntry(entry: object, where: string): AllowedOrigin {
  const { origin, tenants, paths } = entry as Readonly<Record<string, unknown>>
  const unknown = Object.keys(entry).find((field) => !FIELDS.includes(field))
  if (unknown !== undefined)
    throw new ValueError(`${where}: unknown field '${unknown.slice(0, 100)}', expected ${FIELDS.join(', ')}`)
  if (typeof origin !== 'string') throw new ValueError(`${where}: expected an origin, as in ${EXAMPLE}`)
  return {
    origin: parseOrigin(origin),
    tenants: tenants === undefined ? null : listOf(tenants, `${where}: tenants`).map(parseTenant),
    paths: paths === undefined ? null : listOf(paths, `${where}: paths`).map(parsePath),
  }
}

function listOf(value: unknown, where: string): readonly string[] {
  const isList = Array.isArray(value) && value.length > 0 && value.length <= INNER_MAX
  const texts: readonly unknown[] = isList ? value : []
  if (!isList || !texts.every((one) => typeof one === 'string'))
    throw new ValueError(
      `${where}: expected a list of 1 to ${INNER_MAX} texts; leave the field out to allow all`,
    )
  return texts
}

function parseTenant(text: string): string {
  if (!/^[a-z0-9-]+$/.test(text))
    throw new ValueError(
      `expected tenants by their ids, of lower-case letters, digits and hyphens, got '${text.slice(0, 100)}'`,
    )
  return text
}

/** A URL resolves dots and turns backslashes. A path that it changes so was not meant. */
function parsePath(text: string): string {
  const url = URL.parse(`https://x.example${text}`)
  const isWhole = text.startsWith('/') && url?.pathname.split('/').length === text.split('/').length
  const plain = url !== null && isWhole && url.search + url.hash === '' ? plainPath(url.pathname) : null
  if (plain === null || /[?#]/.test(text))
    throw new ValueError(
      `expected paths such as /hooks/acme, without dots as a segment, query or escapes of / and %, got '${text.slice(0, 100)}'`,
    )
  return plain
}
