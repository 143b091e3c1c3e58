/**
 * A configuration file for one test, and its faults.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { type Environment, type Examined, examineConfig } from '../../src/config/load-config.ts'

/** Only the required settings. */
export const SMALLEST = `node: { id: n1, data_dir: data }
cluster: { id: test-cluster, members: [{ id: n1, peer: '127.0.0.1:9002' }] }
security: { master_key_file: key }
`

const REQUIRED: Readonly<Record<string, string>> = {
  'node.id': 'n1',
  'node.data_dir': 'data',
  'cluster.id': 'test-cluster',
  'cluster.members': '[{ id: n1, peer: "127.0.0.1:9002" }]',
  'security.master_key_file': 'key',
}

/** The required settings and these, each with its value as it is written; null leaves it out. A name has two or three parts. */
export function withSettings(settings: Readonly<Record<string, string | null>>): string {
  const lines: string[] = []
  let above: readonly string[] = []
  for (const [name, text] of Object.entries({ ...REQUIRED, ...settings }).toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  )) {
    if (text === null) continue
    const path = name.split('.')
    const sections = path.slice(0, -1)
    sections.forEach((section, depth) => {
      const isOpen = sections.slice(0, depth + 1).every((each, n) => above[n] === each)
      if (!isOpen) lines.push(`${'  '.repeat(depth)}${section}:`)
    })
    above = sections
    lines.push(`${'  '.repeat(sections.length)}${path.at(-1)}: ${text}`)
  }
  return `${lines.join('\n')}\n`
}

export function writeConfig(t: Test, text: string | Uint8Array): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-config-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'node.yaml')
  writeFileSync(file, text)
  return file
}

export function examined(t: Test, text: string | Uint8Array, environment: Environment = {}): Examined {
  return examineConfig(writeConfig(t, text), environment)
}

/** Each as `line: message`, or `VARIABLE: message`. */
export function reportedFaults({ faults }: Examined): readonly string[] {
  return faults.map(({ where, message }) => `${where.split(/node\.yaml:?|variable /)[1]}: ${message}`)
}
