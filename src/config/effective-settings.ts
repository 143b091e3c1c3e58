/**
 * The effective configuration of a node: every setting with its value and the source of the value.
 *
 * Owns: how a checked value is written again, and the order. Knows nothing of: terminals.
 * Rule: shown values are masked. The text form is itself a configuration with the same values.
 */
import { stringify } from 'yaml'
import type { Member } from '../../cluster/index.ts'
import type { Examined } from './load-config.ts'
import { maskSecrets } from './mask-secrets.ts'
import type { Setting } from './settings/setting.ts'
import { SETTINGS, type SettingName } from './settings.ts'
import type { AllowedOrigin, RoleRule } from './types.ts'

export interface EffectiveSetting {
  readonly name: SettingName
  /** Null: optional and not given. */
  readonly value: string | readonly unknown[] | null
  readonly origin: 'file' | 'environment' | 'default'
  /** `n1.yaml:7`, `environment variable …`; null for a default. */
  readonly where: string | null
}

export function effectiveSettings({ written, values }: Examined): readonly EffectiveSetting[] {
  return (SETTINGS as readonly (Setting & { name: SettingName })[]).map((setting) => {
    const given = written.get(setting.name)
    const value = values.has(setting.name) ? formatted(setting, values.get(setting.name), given?.value) : null
    const { kind = 'default', where = null } = given?.origin ?? {}
    return { name: setting.name, value, origin: kind, where }
  })
}

function formatted(setting: Setting, value: unknown, given: unknown): EffectiveSetting['value'] {
  if (setting.kind === 'members') return (value as readonly Member[]).map(formattedMember)
  if (setting.kind === 'networks' || setting.kind === 'paths')
    return (value as readonly string[]).map(maskSecrets)
  if (setting.kind === 'origins') return (value as readonly AllowedOrigin[]).map(formattedOrigin)
  if (setting.kind === 'roleRules') return (value as readonly RoleRule[]).map(formattedRule)
  if (setting.kind === 'ports') return (value as readonly number[]).join(',')
  // A duration stays 90d and does not become 7776000000; a path is shown as it was resolved.
  if (setting.kind === 'path') return maskSecrets(String(value))
  return maskSecrets(typeof given === 'string' ? given : (setting.fallback ?? ''))
}

const formattedMember = ({ nodeId, peerAddress, zone, weight }: Member): object => ({
  id: nodeId,
  peer: peerAddress,
  zone,
  weight,
})

const formattedRule = ({ group, role, tenantId, mayMakeKeys }: RoleRule): object => ({
  group,
  role,
  ...(tenantId === null ? {} : { tenant: tenantId }),
  ...(mayMakeKeys ? {} : { keys: false }),
})

/** A plain origin stays one. */
function formattedOrigin({ origin, tenants, paths }: AllowedOrigin): unknown {
  if (tenants === null && paths === null) return origin
  return {
    origin,
    ...(tenants === null ? {} : { tenants }),
    ...(paths === null ? {} : { paths: paths.map(maskSecrets) }),
  }
}

/** As YAML; each line ends with a comment that names the source. */
export function effectiveText(settings: readonly EffectiveSetting[]): string {
  const lines: string[] = []
  let section = ''
  let inner = ''
  for (const { name, value, origin, where } of settings) {
    const [own = '', ...path] = name.split('.')
    if (own !== section) lines.push(`${own}:`)
    section = own
    const from = where === null ? origin : where
    if (value === null) {
      lines.push(`  # ${path.join('.')}: not given`)
      continue
    }
    const [key = '', innerKey] = path
    const isInner = innerKey !== undefined
    if (isInner && inner !== key) lines.push(`  ${key}:`)
    inner = isInner ? key : ''
    const text = `${isInner ? `  ${innerKey}` : key}: ${valueText(value)}`
    lines.push(`  ${text.padEnd(COLUMN)}  # ${from}`)
  }
  return `${lines.join('\n')}\n`
}

/** The column of the sources, unless the text before is longer. */
const COLUMN = 44

/** Values that YAML would read as another type. They need no quotes: config-file.ts reads every value as text. */
const NEEDS_NO_QUOTES = /^(true|false|0|[1-9]\d{0,14})$/

function valueText(value: string | readonly unknown[]): string {
  if (typeof value !== 'string') return JSON.stringify(value)
  return NEEDS_NO_QUOTES.test(value) ? value : stringify(value, { lineWidth: 0 }).trimEnd()
}
