/**
 * Checks the written values: each setting against its row of the table; collects all faults.
 *
 * Owns: lists of members, defaults, missing settings. Knows nothing of: YAML, the environment, dependencies between settings.
 */
import { resolve } from 'node:path'
import type { Member } from '../../cluster/index.ts'
import { type ConfigFault, configFault } from './config-fault.ts'
import type { Written } from './config-file.ts'
import { environmentName } from './environment.ts'
import { parseOrigin, parseOrigins } from './parse-origins.ts'
import { parseRoleRules } from './parse-role-rules.ts'
import {
  parseAddress,
  parseNetworks,
  parsePaths,
  parsePorts,
  parseScalar,
  ValueError,
} from './parse-value.ts'
import type { Setting } from './settings/setting.ts'
import { SETTINGS, type SettingName } from './settings.ts'

/** The largest number of members that a new cluster can have. */
const MEMBERS_MAX = 64

export type Values = ReadonlyMap<SettingName, unknown>

interface Place {
  readonly file: string
  /** The base of relative paths. */
  readonly folder: string
}

/** Returns a value for every setting that is given or has a default. */
export function parseSettings(
  written: ReadonlyMap<string, Written>,
  { file, folder }: Place,
): { readonly values: Values; readonly faults: readonly ConfigFault[] } {
  const values = new Map<SettingName, unknown>()
  const faults: ConfigFault[] = []
  for (const setting of SETTINGS as readonly (Setting & { name: SettingName })[]) {
    const given = written.get(setting.name)
    const value = given === undefined ? setting.fallback : given.value
    const where = given?.origin.where ?? file
    if (value === null) {
      if (!setting.optional) faults.push(missing(setting, where))
      continue
    }
    try {
      values.set(setting.name, parseSetting(setting, value, folder))
    } catch (cause) {
      if (!(cause instanceof ValueError)) throw cause
      faults.push(wrong(setting, where, cause.message))
    }
  }
  return { values, faults }
}

function missing({ name, advice }: Setting, where: string): ConfigFault {
  const hint = `${advice} The environment variable ${environmentName(name)} does the same.`
  return configFault({ setting: name, where, message: `The setting '${name}' is missing`, hint })
}

function wrong({ name, advice }: Setting, where: string, why: string): ConfigFault {
  const message = `The setting '${name}' is wrong: ${why}`
  return configFault({ setting: name, where, message, hint: advice })
}

function parseSetting(setting: Setting, value: unknown, folder: string): unknown {
  if (setting.kind === 'members') return parseMembers(value)
  if (setting.kind === 'origins') return parseOrigins(value)
  if (setting.kind === 'roleRules') return parseRoleRules(value)
  if (setting.kind === 'origin') return parseOrigin(String(value))
  if (setting.kind === 'paths') return parsePaths(value).map((path) => resolve(folder, path))
  if (setting.kind === 'ports') return parsePorts(value)
  if (setting.kind === 'networks') return parseNetworks(value)
  if (typeof value === 'object' && value !== null)
    throw new ValueError('expected one value, got a list or a section')
  const text = String(value)
  return setting.kind === 'path'
    ? resolve(folder, String(parseScalar(setting, text)))
    : parseScalar(setting, text)
}

function parseMembers(value: unknown): readonly Member[] {
  if (!Array.isArray(value) || value.length === 0)
    throw new ValueError(`expected a list of 1 to ${MEMBERS_MAX} members`)
  if (value.length > MEMBERS_MAX)
    throw new ValueError(`expected a list of 1 to ${MEMBERS_MAX} members, got ${value.length}`)
  const members = value.map(parseMember)
  for (const field of ['nodeId', 'peerAddress'] as const) {
    const values = members.map((member) => member[field])
    const twice = values.find((item, index) => values.indexOf(item) !== index)
    if (twice !== undefined) throw new ValueError(`'${twice}' appears twice`)
  }
  return members
}

function parseMember(entry: unknown, position: number): Member {
  const where = `member ${position + 1} of cluster.members`
  if (!isPlainObject(entry)) throw new ValueError(`${where}: expected {id, peer, zone, weight}`)
  const unknown = Object.keys(entry).find((key) => !['id', 'peer', 'zone', 'weight'].includes(key))
  if (unknown) throw new ValueError(`${where}: unknown field '${unknown}', expected id, peer, zone, weight`)
  const { id, peer, zone = 'default', weight = 1 } = entry
  if (typeof id !== 'string' || typeof peer !== 'string' || typeof zone !== 'string')
    throw new ValueError(`${where}: id, peer and zone are texts`)
  if (typeof weight !== 'number' || !(weight > 0 && weight <= 1000))
    throw new ValueError(`${where}: weight is a number above 0 and at most 1000`)
  return { nodeId: id, peerAddress: parseAddress(peer), zone, weight }
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
