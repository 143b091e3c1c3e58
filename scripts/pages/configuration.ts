/**
 * The reference page of all settings, made from the table that the loader checks against.
 *
 * Owns: the text around the table. Run as a program it writes docs/configuration.md.
 * Rule: no default, bound or name is written here; a setting is described where it is defined, in src/config/settings.ts.
 */
import { writeFileSync } from 'node:fs'
import type { Setting, SettingKind } from '../../src/config/settings/setting.ts'
import { SETTINGS } from '../../src/config/settings.ts'

const KINDS: Readonly<Record<SettingKind, string>> = {
  text: 'text',
  path: 'path',
  paths: 'list of paths',
  address: 'host:port',
  duration: 'duration',
  bytes: 'size',
  percent: 'percentage',
  integer: 'whole number',
  boolean: 'true or false',
  members: 'list',
  level: 'level',
  origin: 'origin',
  origins: 'list of origins',
  roleRules: 'list of rules',
  ports: 'list of ports',
  networks: 'list of addresses and ranges',
}

const UNITS: Readonly<Partial<Record<SettingKind, readonly (readonly [number, string])[]>>> = {
  duration: [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'm'],
    [1000, 's'],
    [1, 'ms'],
  ],
  bytes: [
    [1024 ** 3, 'GiB'],
    [1024 ** 2, 'MiB'],
    [1024, 'KiB'],
    [1, ''],
  ],
}

const INTRODUCTION = `# Configuration

One YAML file for each node, given with \`holdfast server --config FILE\`. This page is made from
[\`settings.ts\`](../src/config/settings.ts) by \`node scripts/pages/configuration.ts\`; do not edit it.

- Sections are written as YAML sections: \`node.id\` is the key \`id\` under \`node:\`.
- Every setting can be given by an environment variable, which wins over the file: \`HOLDFAST_\`, the section, two
  underscores, the key, all in capitals. \`security.native_api_token_ttl\` is \`HOLDFAST_SECURITY__NATIVE_API_TOKEN_TTL\`.
- A duration has a unit: \`100ms\`, \`90s\`, \`15m\`, \`24h\`, \`7d\`. A size is a number of bytes or has one: \`64KiB\`, \`16MiB\`, \`5GiB\`, or decimal as in \`10GB\`.
- A percentage carries its sign: \`85%\`, \`92.5%\`.
- A path is relative to the folder of the file.
- A list is given by environment as YAML in one line: \`[{id: n1, peer: "10.0.0.1:9002"}]\`; origins and addresses as well with commas between them.
- An unknown key, a key without a value or twice, a wrong unit or a value out of bounds refuses the start. The error lists all faults, each with its line, and names the
  nearest known key.
- \`holdfast config check --config FILE\` reports the same without a start and ends with 2; it also examines the files that the settings name and the data directory, so run it
  as the user of the node ([what it finds](start-errors.md)). With \`--settings-only\` it examines no file but this one. \`holdfast config print\` shows every setting with its value and where that came from:
  a line of the file, a variable, or the default. Anything in it that looks like a secret is masked. [The doctor](doctor.md) checks what the settings name.
- Nothing is read again while the node runs: restart it after a change.
`

/** 604800000 ms -> 7d; a value that is not a whole number of a unit uses the next smaller one. */
function inUnits(value: number, kind: SettingKind): string {
  if (kind === 'percent') return `${value}%`
  const unit = UNITS[kind]?.find(([size]) => value >= size && value % size === 0)
  return unit === undefined ? String(value) : `${value / unit[0]}${unit[1]}`
}

function range({ kind, min, max }: Setting): string {
  if (min !== undefined && max !== undefined) return `${inUnits(min, kind)} to ${inUnits(max, kind)}`
  return ''
}

function initial({ fallback, optional }: Setting): string {
  if (fallback !== null) return `\`${fallback}\``
  return optional ? 'none' : 'must be given'
}

function table(settings: readonly Setting[]): string {
  const rows = settings.map(
    (setting) =>
      `| \`${setting.name}\` | ${KINDS[setting.kind]} | ${initial(setting)} | ${range(setting)} | ${setting.meaning} | ${setting.advice} |`,
  )
  return [
    '| setting | kind | default | range | meaning | what to write |',
    '|---|---|---|---|---|---|',
    ...rows,
  ].join('\n')
}

export function configurationPage(): string {
  const settings: readonly Setting[] = SETTINGS
  const sections = [...new Set(settings.map(({ name }) => name.split('.')[0] ?? ''))]
  const parts = sections.map((section) => {
    const own = settings.filter(({ name }) => name.startsWith(`${section}.`))
    return `## ${section}\n\n${table(own)}\n`
  })
  return [INTRODUCTION, ...parts].join('\n')
}

if (import.meta.main)
  writeFileSync(new URL('../../docs/configuration.md', import.meta.url), configurationPage())
