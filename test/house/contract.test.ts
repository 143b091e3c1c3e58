/**
 * The rows of the contract and the names of the tests agree, and every route and code has a row.
 */
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { claimsOf, contractReport, testFiles } from '../../scripts/checks/contract.ts'
import { dataPlane } from '../../src/api/native/routes.ts'
import { STATUS_OF } from '../../src/api/problem.ts'
import { CONTRACT } from '../api-contract/rows.ts'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
/** Codes of areas that are not built, and one that no answer carries yet. */
const ELSEWHERE = [
  'confirm_mismatch',
  'membership_change_in_progress',
  'stale_config_index',
  'member_exists',
  'address_in_use',
  'member_tombstoned',
  'foreign_cluster',
  'data_not_empty',
  'tenant_scope_denied',
  'reason_required',
  'already_exists',
  'insufficient_storage',
]
const says = CONTRACT.flatMap(({ rows }) => Object.values(rows))

t.test('every row of a built area has a test: run npm run contract', async (t) => {
  const { findings, rows, claimed } = contractReport(CONTRACT, testFiles(ROOT))
  t.same(findings, [])
  t.equal(claimed, rows)
  t.ok(rows > 240, `${rows} rows`)
})

t.test('every route of buckets and objects has a row that begins with it', async (t) => {
  const routes = dataPlane.routes.filter(({ path }) => path.startsWith('/buckets'))
  t.ok(routes.length > 20)
  const missing = routes.filter(
    ({ method, path }) => !says.some((text) => text.startsWith(`${method} ${path}:`)),
  )
  t.same(
    missing.map(({ method, path }) => `${method} ${path}`),
    [],
  )
})

t.test('every code has a row with its status, or belongs to an area that is not built', async (t) => {
  const errors = CONTRACT.find(({ name }) => name === 'errors')?.rows ?? {}
  for (const [code, status] of Object.entries(STATUS_OF))
    if (ELSEWHERE.includes(code)) t.notOk(`errors.${code}` in errors, `${code} is elsewhere`)
    else t.match(errors[`errors.${code}`], new RegExp(`^${status}\\b`), code)
  const known = new Set<string>(Object.keys(STATUS_OF))
  t.same(
    ELSEWHERE.filter((code) => !known.has(code)),
    [],
  )
})

t.test('contractReport', async (t) => {
  const areas = [
    { name: 'a', built: true, rows: { 'a.one': 'one [native: A]', 'a.two': 'two [decisions 1]' } },
    { name: 'b', built: false, rows: { 'b.one': 'one [native: B]' } },
  ]
  const named = (...names: readonly string[]) => [
    { path: 'x', text: names.map((name) => `t.test('${name}', () => {})`).join('\n') },
  ]
  t.same(contractReport(areas, named('it [a.one] [a.two]')).findings, [])
  t.match(contractReport(areas, named('it [a.one]')).findings, [/^No test is named after \[a\.two\]: two/])
  t.match(contractReport(areas, named('it [a.one] [a.two] [a.tow]')).findings, [/^x claims "a\.tow"/])
  const astray = [{ name: 'c', built: false, rows: { 'd.one': 'one [native: D]', 'c.two': 'two' } }]
  t.match(contractReport(astray, []).findings, [/"d\.one" does not start/, /"c\.two" does not end with its/])
  t.match(contractReport([{ name: 'e', built: true, rows: {} }], []).findings, [
    /area e is built and has no row/,
  ])
})

t.test('claimsOf reads names of tests and nothing else', async (t) => {
  // In pieces, or this file would claim them.
  const call = ['t', 'test('].join('.')
  const text = [
    `await ${call}'[decisions 14] a [a.one] [RFC 9110 14.2] [a-b.c_d]', async (t) => {`,
    `${call}\n  "b [x.y]", () => {})`,
    `t.equal(1, 1, 'no name [a.two]')`,
    '// [a.three]',
  ].join('\n')
  t.same(claimsOf(text), ['a.one', 'a-b.c_d', 'x.y'])
})
