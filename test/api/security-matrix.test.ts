/**
 * Every operation of both planes against every form of credential that must not open it, and the narrowest that must.
 *
 * The story of the examples is told, and before each of its steps everybody without the right tries it: what they are refused
 * is about to succeed, so the state is never the reason; and the sum over all rows shows that they changed nothing.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import Type from 'typebox'
import { createHttpServer } from '../../src/api/http-server.ts'
import { dataPlane } from '../../src/api/native/routes.ts'
import { NO_METER } from '../../src/api/request-log.ts'
import { dataRoute, signedRoute } from '../../src/api/route.ts'
import { plainly } from '../helpers/plainly.ts'
import { ApiWorld, type Heard } from './api-world.ts'
import { bearing, type Cell, CredentialForms } from './credential-forms.ts'
import { askOf, type ExampleId, operationOf, STORY, takes } from './example-story.ts'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
const isOpen = (id: ExampleId): boolean =>
  !takes(operationOf(id), 'bearer') && !takes(operationOf(id), 'signedUrl')

/** What is not as expected; null: refused as it should be. */
function faultOf({ status, code, form }: Cell, heard: Heard, method: string): string | null {
  // HEAD has no body to tell the code in.
  const isRefused = heard.status === status && (method === 'HEAD' || heard.code === code)
  return isRefused ? null : `${form}: ${heard.status} ${String(heard.code)}, not ${status} ${code}`
}

t.test(
  'nobody without the right gets through or changes anything, and the narrowest right suffices [admin.roles.nothing-changes] [admin.tokens.bad]',
  async (t) => {
    const world = await ApiWorld.start(t, { limits: { adminRequestsBurst: 10_000 } })
    const forms = await CredentialForms.make(world.memory)
    const answers: Record<string, unknown> = {}
    const tried = new Set<ExampleId>()
    let cells = 0
    for (const id of STORY) {
      const { method } = operationOf(id)
      const ask = askOf(id, answers)
      await forms.deny()
      const refused = tried.has(id) ? [] : forms.cells(id)
      const before = world.memory.checksum()
      for (const cell of refused) {
        const heard = await world.call(cell.as(ask))
        t.equal(faultOf(cell, heard, method), null, `${id}, ${cell.form}`)
      }
      t.equal(world.memory.checksum(), before, `${id}: no row of the state has changed`)
      cells += refused.length
      if (!tried.has(id)) t.ok(isOpen(id) ? refused.length === 0 : refused.length > 10, `${id} has its cells`)
      tried.add(id)
      // The forms have made the tenant already.
      const isThere = id === 'createTenant'
      const heard = await world.call(bearing(await forms.narrowest(id), ask))
      t.ok(
        isThere ? heard.status === 409 : heard.status < 300,
        `${id} passes: ${heard.bytes.toString().slice(0, 300)}`,
      )
      answers[id] = heard.json
    }
    t.comment(`${cells} cells`)
    t.ok(cells > 1150, `${cells} cells`)
  },
)

t.test('what needs no credential takes no notice of a bad one', async (t) => {
  const world = await ApiWorld.start(t)
  for (const id of STORY) {
    if (!isOpen(id) || id === 'createToken') continue
    for (const authorization of [undefined, 'Bearer garbage', 'Basic !!', ''])
      t.equal((await world.call(bearing(authorization, askOf(id, {})))).status, 200, id)
  }
})

const TOKEN = Type.Object({ token: Type.String() })
const nothing = async () => ({ kind: 'empty' }) as const

t.test('a route whose operation asks nobody is found by the matrix', async (t) => {
  const world = await ApiWorld.start(t)
  const forms = await CredentialForms.make(world.memory)
  const facts = { method: 'GET', summary: 'Forgets', success: { status: 200, description: 'Any' } } as const
  const sneaky = [
    dataRoute({ operationId: 'getBucket', path: '/buckets/{bucket}/sneaky', ...facts }, nothing),
    signedRoute({ operationId: 'getSigned', path: '/sneaky', query: TOKEN, ...facts }, nothing),
  ]
  const plane = { ...dataPlane, routes: [...dataPlane.routes, ...sneaky] }
  const server = createHttpServer(world.memory.services, plane, NO_METER)
  t.teardown(() => server.close())
  await server.listen({ host: '127.0.0.1', port: 0 })
  const { port } = server.server.address() as AddressInfo
  const found = async (id: ExampleId, at: string): Promise<readonly string[]> => {
    const passed: string[] = []
    for (const cell of forms.cells(id)) {
      const { path, headers = {} } = cell.as({ path: at })
      const { authorization } = headers
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
        headers: authorization === undefined ? {} : { authorization: String(authorization) },
      })
      await answer.arrayBuffer()
      if (answer.status !== cell.status) passed.push(cell.form)
    }
    return passed.sort()
  }
  t.same(await found('getBucket', '/buckets/photos/sneaky'), [
    'a key that a policy denies',
    'admin alone',
    'all but read',
    'another bucket',
    'another tenant',
    'delete alone',
    'write alone',
  ])
  t.same(await found('getSigned', '/sneaky'), [
    'a key that a policy denies',
    'for a key that begins like it',
    'for a prefix below it',
    'for another bucket',
    'for another key',
    'for another prefix',
    'for the other method',
    'for the prefix in capitals',
    'of a key for another bucket',
    'of a key for another prefix',
    'of a key of another tenant',
    'of a key without read',
  ])
})

t.test('an operation without rights, codes, a route or an example does not compile', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-sneak-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  for (const part of ['src', 'cluster', 'tsconfig.json', 'package.json'])
    cpSync(join(ROOT, part), join(dir, part), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'))
  const ids = join(dir, 'src', 'access', 'base', 'operation-ids.ts')
  writeFileSync(ids, readFileSync(ids, 'utf8').replace("'healthz',", "'healthz',\n  'sneak',"))
  const options = { noEmit: true, composite: false, incremental: false, rootDir: '.', types: ['node'] }
  const config = { extends: './tsconfig.json', compilerOptions: options, references: [] }
  writeFileSync(join(dir, 'sneak.json'), JSON.stringify({ ...config, files: ['src/api/native/routes.ts'] }))
  const compiler = join(ROOT, 'node_modules', '.bin', 'tsc')
  const { stdout } = spawnSync(...plainly(compiler, '-p', 'sneak.json'), { cwd: dir, encoding: 'utf8' })
  for (const file of [
    'src/access/requirements.ts',
    'src/api/problem-codes.ts',
    'src/api/native/routes.ts',
    'src/api/examples/data-examples.ts',
  ])
    t.match(stdout, new RegExp(`${file}.*error TS2741: Property 'sneak' is missing`), file)
})
