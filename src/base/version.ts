/**
 * The version of this build, read from package.json; the relative path depends on how the build runs.
 */
import { existsSync, readFileSync } from 'node:fs'

function readVersion(): string {
  for (const place of ['../package.json', '../../package.json']) {
    const url = new URL(place, import.meta.url)
    if (!existsSync(url)) continue
    const manifest: { name?: string; version?: string } = JSON.parse(readFileSync(url, 'utf8'))
    if (manifest.name === 'holdfast') return manifest.version ?? '0.0.0'
  }
  return '0.0.0'
}

export const VERSION = readVersion()
