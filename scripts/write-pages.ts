/**
 * Writes the reference pages that are made from code into docs/. Run it after a change of settings or error codes:
 * `node scripts/write-pages.ts`.
 */
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { configurationPage } from './configuration-page.ts'
import { errorsPage } from './errors-page.ts'

const FOLDER = join(dirname(dirname(fileURLToPath(import.meta.url))), 'docs')

writeFileSync(join(FOLDER, 'configuration.md'), configurationPage())
writeFileSync(join(FOLDER, 'errors.md'), errorsPage())
