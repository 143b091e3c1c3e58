/** The refusals that a run of Schemathesis passes over are those of operations and codes that exist, each with its reason. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { STATUS_OF } from '../../src/api/problem.ts'
import { ROUTES } from '../helpers/operations.ts'

const FILE = new URL('../programs/schemathesis/schemathesis.toml', import.meta.url)
const ROW = /^ {2}\{ operations = \[(.+?)\], code = "(\w+)", message = "(.+?)", why = "(.+)" \},$/

t.test('a declared refusal names operations, a code and a reason', async (t) => {
  const rows = readFileSync(FILE, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('  {'))
  t.ok(rows.length > 0)
  const known = new Set(ROUTES.map(({ operation: { id } }) => id))
  for (const row of rows) {
    const [, operations = '', code = '', message = '', why = ''] = ROW.exec(row) ?? []
    const ids = [...operations.matchAll(/"([^"]+)"/g)].map(([, id = '']) => id)
    t.ok(ids.length > 0 && ids.every((id) => id === '*' || known.has(id)), row)
    t.ok(Object.hasOwn(STATUS_OF, code), row)
    t.ok(message.length > 5 && why.length > 10, row)
  }
})
