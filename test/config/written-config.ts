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
