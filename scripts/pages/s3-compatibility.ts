/**
 * The page of what the S3 API does, made from its table of routes: `node scripts/pages/s3-compatibility.ts`.
 *
 * Owns: the form of the page, and which test proves an action. Rules: a test file proves the actions that titles of its tests begin with, and those of the line
 * `Actions:` in its header; a done action without such a file is a finding of the test of this page.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { s3Table } from '../../src/api/s3/routes.ts'
import type { S3Refused, S3Route } from '../../src/api/s3/base/s3-route.ts'
import { S3_ACTION_NAMES } from './s3-actions.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const TESTS = 'test/api/s3'
/** Of a title its first word counts: others name what a test is not about. */
const TITLE = /\bt\.test\(\s*['"`]([A-Za-z0-9]+)/g
const HEADER_ACTIONS = /^ \* Actions: (.*)$/gm

/** Action -> paths of the test files that prove it. */
export function provingTests(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  for (const path of testFilesIn(TESTS)) {
    const text = readFileSync(join(ROOT, path), 'utf8')
    const said = [...text.matchAll(TITLE), ...text.matchAll(HEADER_ACTIONS)].map(
      (match) => match.at(-1) ?? '',
    )
    const words = new Set(said.join(' ').split(/[^A-Za-z0-9]+/))
    for (const action of S3_ACTION_NAMES)
      if (words.has(action)) found.set(action, [...(found.get(action) ?? []), path])
  }
  return found
}

function testFilesIn(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .toSorted()
    .map((name) => `${folder}/${name}`)
}

const byAction = <T extends { readonly action: string }>(rows: readonly T[]): readonly T[] =>
  rows.toSorted((one, other) => (one.action < other.action ? -1 : Number(one.action > other.action)))

const PATHS = { service: '/', bucket: '/{bucket}', object: '/{bucket}/{key}' } as const

/** What a client sends: method, path, and what makes it this action. */
function requestOf(row: S3Refused | S3Route): string {
  const { level, marks, method } = row
  const value = 'markValue' in row ? row.markValue : undefined
  const header = 'markHeader' in row ? row.markHeader : undefined
  const query = marks.map((mark) => (mark === value?.name ? `${mark}=${value.value}` : mark)).join('&')
  return `\`${method} ${PATHS[level]}${query === '' ? '' : `?${query}`}\`${header === undefined ? '' : `, header \`${header}\``}`
}

function doneRow(route: S3Route, tests: ReadonlyMap<string, readonly string[]>): string {
  const links = (tests.get(route.action) ?? []).map(
    (path) => `[${path.replace(/^test\//, '').replace(/\.test\.ts$/, '')}](../${path})`,
  )
  return row(route.action, requestOf(route), `\`${route.operation.id}\``, route.note ?? '', links.join(', '))
}

const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`

/** Actions that are neither done nor refused by name. */
export function absentActions(): readonly string[] {
  const known = new Set([...s3Table.routes, ...s3Table.refused].map(({ action }) => action))
  return S3_ACTION_NAMES.filter((action) => !known.has(action)).toSorted()
}

export function s3CompatibilityPage(): string {
  const tests = provingTests()
  const done = byAction(s3Table.routes)
  const names = new Set(done.map(({ action }) => action))
  const refused = byAction(s3Table.refused.filter(({ action }) => !names.has(action)))
  const absent = absentActions()
  return `# What the S3 API does

Every action of the AWS S3 API reference is in one of three tables: ${names.size} are done, ${new Set(refused.map(({ action }) => action)).size} are refused by their name, ${absent.length} are not there.
This page is made from [the table of routes](../src/api/s3/routes.ts) by \`node scripts/pages/s3-compatibility.ts\`; do not edit it.

A request is what it is in AWS's reference: path style, or with the bucket in the host where \`listeners.s3_domain\` is set. What would change the meaning of a request and is not carried out, an
action, a parameter of the query or a header, is refused by its name with \`501 NotImplemented\`. Each action runs the operation of the native API that is named beside it,
so rights, quotas, locks, policies and the audit log are the same. Each is also tried with every form of a signature that must be refused
([security-matrix](../test/api/s3/security-matrix.test.ts)).

## Done

${row('action', 'request', 'operation', 'differs', 'tests')}
|---|---|---|---|---|
${done.map((route) => doneRow(route, tests)).join('\n')}

## Refused by name

${row('action', 'request', 'why')}
|---|---|---|
${refused.map((one) => row(one.action, requestOf(one), one.why)).join('\n')}

## Not there

A request for one of these is refused as any unknown one: by the name of its parameter, or with \`405 MethodNotAllowed\`.

${absent.map((action) => `- ${action}`).join('\n')}
`
}

if (argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(join(ROOT, 'docs/s3-compatibility.md'), s3CompatibilityPage())
