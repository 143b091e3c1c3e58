/**
 * The version of an installed npm package.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const MODULES = join(import.meta.dirname, '..', '..', '..', 'node_modules')

export function packageVersion(name: string): string {
  const { version } = JSON.parse(readFileSync(join(MODULES, name, 'package.json'), 'utf8')) as {
    readonly version: string
  }
  return version
}
