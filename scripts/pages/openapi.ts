/**
 * Writes the contract documents into docs/openapi/. Run it after a change of the routes: `node scripts/pages/openapi.ts`.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openApiText } from '../../src/api/server/openapi-documents.ts'

const FOLDER = join(join(import.meta.dirname, '..', '..'), 'docs', 'openapi')

mkdirSync(FOLDER, { recursive: true })
for (const name of ['data', 'admin'] as const) {
  writeFileSync(join(FOLDER, `${name}.json`), openApiText(name))
}
