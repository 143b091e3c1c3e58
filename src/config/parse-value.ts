/**
 * Parses one written value: durations, sizes, addresses, numbers.
 *
 * Owns: the spellings that the configuration accepts. Rule: an error names the value that was read, and what is accepted with an example.
 */
import { isIPv4, isIPv6 } from 'node:net'
import { parseRange } from '../base/network-address.ts'
import type { Setting, SettingKind } from './settings/setting.ts'
import { LOG_LEVELS } from './settings/service.ts'

export class ValueError extends Error {}

const DURATION_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}
const SIZE_BYTES: Readonly<Record<string, number>> = {
  '': 1,
  B: 1,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
  TiB: 1024 ** 4,
  kB: 1000,
  KB: 1000,
  MB: 1000 ** 2,
  GB: 1000 ** 3,
  TB: 1000 ** 4,
}

/** `90s`, `1.5h`, `7d` -> milliseconds. */
export function parseDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text)
  const unit = match && DURATION_MS[match[2] ?? '']
  if (!match || unit === undefined || unit === null)
    throw new ValueError(`expected a duration such as 100ms, 90s, 15m, 24h or 7d, got '${text}'`)
  return Number(match[1]) * unit
}

/** `4096`, `64KiB`, `10GB` -> bytes. */
export function parseBytes(text: string): number {
  const match = /^(\d+)\s*([A-Za-z]*)$/.exec(text)
  const unit = match && SIZE_BYTES[match[2] ?? '']
  if (!match || unit === undefined || unit === null)
    throw new ValueError(`expected a size such as 4096, 64KiB, 5GiB or 10GB, got '${text}'`)
  return Number(match[1]) * unit
}

/** `85%`, `92.5%` -> 85, 92.5. A number without a sign is ambiguous (a share or a percentage), so it is refused. */
export function parsePercent(text: string): number {
  const match = /^(\d{1,3}(?:\.\d{1,3})?)\s*%$/.exec(text)
  if (!match) throw new ValueError(`expected a percentage such as 85% or 92.5%, got '${text}'`)
  return Number(match[1])
}

function parseInteger(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new ValueError(`expected a whole number, got '${text}'`)
  return Number(text)
}

function parseBoolean(text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new ValueError(`expected true or false, got '${text}'`)
  return text === 'true'
}

export function parseAddress(text: string): string {
  const match = /^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9.-]+):(\d{1,5})$/.exec(text)
  if (!match || Number(match[2]) > PORT_MAX || !isHost(match[1] ?? ''))
    throw new ValueError(`expected host:port such as 127.0.0.1:9000, got '${text}'`)
  return text
}

/** A name of digits and dots is meant as an address of IPv4, and no name server knows it. */
function isHost(host: string): boolean {
  if (host.startsWith('[')) return isIPv6(host.slice(1, -1))
  return !/^[\d.]+$/.test(host) || isIPv4(host)
}

const PORTS_MAX = 100
const PORT_MAX = 65_535

/** Takes a list, or a text in which commas separate the ports. */
export function parsePorts(value: unknown): readonly number[] {
  const given: readonly unknown[] = Array.isArray(value) ? value : String(value).split(',')
  const texts = given.map((one) =>
    typeof one === 'object' ? JSON.stringify(one) : `${one as string | number}`.trim(),
  )
  if (texts.length === 0 || texts.length > PORTS_MAX)
    throw new ValueError(`expected 1 to ${PORTS_MAX} ports, got ${texts.length}`)
  return texts.map(parsePort)
}

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port < 1 || port > PORT_MAX)
    throw new ValueError(
      `expected ports such as 443,8443, each a whole number from 1 to ${PORT_MAX}, got '${text.slice(0, 100)}'`,
    )
  return port
}

const PATHS_MAX = 64

/** Takes a list, or a text in which commas separate paths. */
export function parsePaths(value: unknown): readonly string[] {
  const given: readonly unknown[] = Array.isArray(value) ? value : String(value).split(',')
  const isSection = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (isSection || given.some((one) => typeof one === 'object' && one !== null))
    throw new ValueError('expected paths, got a list or a section')
  const texts = given.map((one) => (typeof one === 'string' ? one.trim() : ''))
  if (texts.length === 0 || texts.length > PATHS_MAX)
    throw new ValueError(`expected 1 to ${PATHS_MAX} paths, got ${texts.length}`)
  if (texts.includes('')) throw new ValueError('expected paths, got an empty one')
  return texts
}

const NETWORKS_MAX = 1000
/** A range with fewer bits holds addresses of most of the internet. */
const NETWORK_BITS_MIN = { ipv4: 8, ipv6: 16 } as const

/** Takes a list, or a text in which commas separate addresses and ranges such as 10.0.0.0/24. */
export function parseNetworks(value: unknown): readonly string[] {
  const given: readonly unknown[] = Array.isArray(value) ? value : String(value).split(',')
  const texts = given.map((one) => String(one).trim()).filter((text) => text !== '')
  if (texts.length > NETWORKS_MAX)
    throw new ValueError(`expected at most ${NETWORKS_MAX} addresses, got ${texts.length}`)
  return texts.map(parseNetwork)
}

function parseNetwork(text: string): string {
  const range = parseRange(text)
  if (range === null)
    throw new ValueError(
      `expected an address or a range such as 10.0.0.7, 10.0.0.0/24 or 2001:db8::/48, got '${text.slice(0, 100)}'`,
    )
  const least = NETWORK_BITS_MIN[range.family]
  if (range.bits < least)
    throw new ValueError(`expected a range of at least /${least}, got '${text}', which holds most addresses`)
  return text
}

function parseLevel(text: string): string {
  if (!LOG_LEVELS.some((level) => level === text))
    throw new ValueError(`expected one of ${LOG_LEVELS.join(', ')}, got '${text}'`)
  return text
}

const UNIT_OF: Readonly<Partial<Record<SettingKind, string>>> = {
  duration: ' ms',
  bytes: ' bytes',
  percent: '%',
}

function withinBounds(value: number, setting: Setting): number {
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = setting
  const unit = UNIT_OF[setting.kind] ?? ''
  if (value < min || value > max)
    throw new ValueError(`expected ${min} to ${max}${unit}, got ${value}${unit}`)
  return value
}

/** Every kind except `members` and `path`, which need more than the text. */
export function parseScalar(setting: Setting, text: string): string | number | boolean {
  switch (setting.kind) {
    case 'duration':
      return withinBounds(parseDuration(text), setting)
    case 'bytes':
      return withinBounds(parseBytes(text), setting)
    case 'percent':
      return withinBounds(parsePercent(text), setting)
    case 'integer':
      return withinBounds(parseInteger(text), setting)
    case 'boolean':
      return parseBoolean(text)
    case 'address':
      return parseAddress(text)
    case 'level':
      return parseLevel(text)
    default:
      if (text === '') throw new ValueError('expected a text, got nothing')
      if (setting.pattern && !setting.pattern.test(text))
        throw new ValueError(`'${text}' does not match ${setting.pattern.source}`)
      if (setting.isUrl && URL.parse(text) === null)
        throw new ValueError(`expected a URL with a host and a port up to ${PORT_MAX}, got '${text}'`)
      return text
  }
}
