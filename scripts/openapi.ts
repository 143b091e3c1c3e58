/**
 * Writes the contract documents into docs/openapi/. Run it after a change of the routes: `node scripts/openapi.ts`.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openApiText } from '../src/api/server/openapi-documents.ts'

const FOLDER = join(dirname(dirname(fileURLToPath(import.meta.url))), 'docs', 'openapi')

mkdirSync(FOLDER, { recursive: true })
for (const name of ['data', 'admin'] as const) {
  writeFileSync(join(FOLDER, `${name}.json`), openApiText(name))
}
