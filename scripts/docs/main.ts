/**
 * `npm run docs`: the documentation as a folder of HTML, dist/site, for any web server; and as the one file from which a node serves it,
 * dist/docs/site.pack (docs/adr/0081-documentation-to-browse.md).
 *
 * Rule: standard output stays empty, because `npm pack --json` prints its own.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { packSite } from '../../src/api/pages/site-archive.ts'
import { ROOT } from '../supply-chain/lockfile.ts'
import { documentationSite, type Site } from './site.ts'

/** Where a node looks for it. */
const ARCHIVE = join('dist', 'docs', 'site.pack')
const FOLDER = join('dist', 'site')

/** Throws when a document cannot be shown, or links to what is not there. */
export function writeArchive(root: string, site: Site = documentationSite(root)): void {
  const file = join(root, ARCHIVE)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, packSite(site))
}

function writeFolder(root: string, site: Site): void {
  const folder = join(root, FOLDER)
  rmSync(folder, { recursive: true, force: true })
  for (const [path, { bytes }] of site) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), bytes)
  }
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const site = documentationSite(ROOT)
  writeFolder(ROOT, site)
  writeArchive(ROOT, site)
  process.stderr.write(`${site.size} files in ${FOLDER}, and in one file ${ARCHIVE}\n`)
}
