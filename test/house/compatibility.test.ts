/** What other programs rely on is compared with an earlier commit: nothing may disappear unnoticed. */
import t from 'tap'
import {
  codeFacts,
  difference,
  documentFacts,
  levelFacts,
  metricFacts,
} from '../../scripts/checks/compatibility.ts'

const DOCUMENT = { paths: { '/a': { get: { summary: 'Read a', required: ['x', 'y'], deprecated: false } } } }
const facts = (document: unknown): ReadonlyMap<string, string> =>
  documentFacts('data', JSON.stringify(document))
const changed = (get: object): unknown => ({ paths: { '/a': { get } } })

t.test('a document', async (t) => {
  const before = facts(DOCUMENT)
  const { get } = DOCUMENT.paths['/a']

  await t.test('may change its texts and the order of plain lists', async (t) => {
    const after = facts(changed({ ...get, summary: 'Return a', required: ['y', 'x'] }))
    t.same(difference(before, after), { added: [], broken: [] })
  })
  await t.test('may gain members', async (t) => {
    const after = facts(changed({ ...get, security: [{ bearer: 'x' }] }))
    t.same(difference(before, after), { added: ['data/paths//a/get/security[0]/bearer'], broken: [] })
  })
  await t.test('breaks when a member goes, or has another value', async (t) => {
    const after = facts(changed({ required: ['x'], deprecated: true }))
    t.same(difference(before, after).broken, [
      'data/paths//a/get/required["y"] is gone',
      'data/paths//a/get/deprecated was false and is true',
    ])
  })
})

t.test('codes, metrics and levels are read where they are written', async (t) => {
  t.same([...codeFacts('| status | code |\n| 404 | `not_found` | Gone. |\n')], [['code not_found', '404']])
  t.same([...metricFacts("name: 'holdfast_a_total',")], [['metric holdfast_a_total', 'exported']])
  t.same([...levelFacts('export const X = {\n  putObject: 1,\n}\n')], [['command putObject', '1']])
})
