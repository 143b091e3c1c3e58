/**
 * Every operation of both planes against every form of credential that must not open it, and the narrowest that must.
 *
 * The story of the examples is told, and before each of its steps everybody without the right tries it: what they are refused
 * is about to succeed, so the state is never the reason, and that it succeeds shows that they changed nothing.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { ADMIN_OPERATION_IDS, DATA_OPERATION_IDS, type OperationId } from '../../src/access/operation-ids.ts'
import { REQUIREMENTS } from '../../src/access/requirements.ts'
import { createHttpServer } from '../../src/api/http-server.ts'
import { dataPlane } from '../../src/api/native/routes.ts'
import { NO_METER } from '../../src/api/request-log.ts'
import { dataRoute } from '../../src/api/route.ts'
import { ApiDocument } from '../helpers/api-document.ts'
import { plainly } from '../helpers/plainly.ts'
import { type Ask, ApiWorld, type Heard } from './api-world.ts'
import { type Cell, CredentialForms } from './credential-forms.ts'
import { askOf, STORY } from './example-story.ts'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
const IDS: readonly OperationId[] = [...DATA_OPERATION_IDS, ...ADMIN_OPERATION_IDS]
const DOCUMENTS = { data: new ApiDocument('data'), admin: new ApiDocument('admin') }
const operationOf = (id: OperationId) =>
  DOCUMENTS[ADMIN_OPERATION_IDS.some((admin) => admin === id) ? 'admin' : 'data'].operation(id)

/** What is not as expected; null: refused as it should be. */
function faultOf({ status, code, form }: Cell, heard: Heard, method: string): string | null {
  // HEAD has no body to tell the code in.
  const isRefused = heard.status === status && (method === 'HEAD' || heard.code === code)
  return isRefused ? null : `${form}: ${heard.status} ${String(heard.code)}, not ${status} ${code}`
}

const withHeader = (ask: Ask, authorization: string | undefined): Ask => ({
  ...ask,
  headers: { ...ask.headers, ...(authorization === undefined ? {} : { authorization }) },
})

t.test('nobody without the right gets through, and the narrowest right suffices', async (t) => {
  const world = await ApiWorld.start(t, { limits: { adminRequestsBurst: 10_000 } })
  const forms = await CredentialForms.make(world.memory)
  const answers: Record<string, unknown> = {}
  const tried = new Set<OperationId>()
  let cells = 0
  for (const id of STORY) {
    const operation = operationOf(id)
    const ask = askOf(operation, answers)
    const isOpen = REQUIREMENTS[id].kind === 'none'
    const refused = tried.has(id) ? [] : forms.cells(id, { namesBucket: operation.path.includes('{bucket}') })
    for (const cell of refused) {
      const heard = await world.call(withHeader(ask, cell.authorization))
      t.equal(faultOf(cell, heard, operation.method), null, `${id}, ${cell.form}`)
    }
    cells += refused.length
    if (!tried.has(id)) t.ok(isOpen ? refused.length === 0 : refused.length > 10, `${id} has its cells`)
    tried.add(id)
    // The forms have made the tenant already.
    const isThere = id === 'createTenant'
    const heard = await world.call(withHeader(ask, await forms.narrowest(id)))
    t.ok(
      isThere ? heard.status === 409 : heard.status < 300,
      `${id} passes: ${heard.bytes.toString().slice(0, 300)}`,
    )
    answers[id] = heard.json
  }
  t.equal(tried.size, IDS.length)
  t.comment(`${cells} cells`)
  t.ok(cells > 850, `${cells} cells`)
})

t.test('what needs no credential takes no notice of a bad one', async (t) => {
  const world = await ApiWorld.start(t)
  for (const id of IDS) {
    if (REQUIREMENTS[id].kind !== 'none' || id === 'createToken') continue
    for (const authorization of [undefined, 'Bearer garbage', 'Basic !!', ''])
      t.equal((await world.call(withHeader(askOf(operationOf(id), {}), authorization))).status, 200, id)
  }
})

t.test('a route whose operation asks nobody is found by the matrix', async (t) => {
  const world = await ApiWorld.start(t)
  const forms = await CredentialForms.make(world.memory)
  const sneaky = dataRoute(
    {
      operationId: 'getBucket',
      method: 'GET',
      path: '/buckets/{bucket}/sneaky',
      summary: 'Forgets to authorize',
      success: { status: 200, description: 'Anything' },
    },
    async () => ({ kind: 'empty' }),
  )
  const plane = { ...dataPlane, routes: [...dataPlane.routes, sneaky] }
  const server = createHttpServer(world.memory.services, plane, NO_METER)
  t.teardown(() => server.close())
  await server.listen({ host: '127.0.0.1', port: 0 })
  const { port } = server.server.address() as AddressInfo
  const found: string[] = []
  for (const cell of forms.cells('getBucket', { namesBucket: true })) {
    const headers = cell.authorization === undefined ? {} : { authorization: cell.authorization }
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/buckets/photos/sneaky`, { headers })
    await answer.arrayBuffer()
    if (answer.status !== cell.status) found.push(cell.form)
  }
  t.same(found.sort(), [
    'admin alone',
    'all but read',
    'another bucket',
    'another tenant',
    'delete alone',
    'write alone',
  ])
})

t.test('an operation without rights, codes, a route or an example does not compile', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-sneak-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  for (const part of ['src', 'cluster', 'tsconfig.json', 'package.json'])
    cpSync(join(ROOT, part), join(dir, part), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'))
  const ids = join(dir, 'src', 'access', 'operation-ids.ts')
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
