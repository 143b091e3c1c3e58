/**
 * Every operation of both planes against every form of credential that must be refused, and the narrowest that must pass.
 *
 * The examples run as a story, and each step is first tried with every credential without the right: the refused request
 * succeeds right after, so the state is never the reason; and the sum over all rows shows that they changed nothing.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
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
import { getBucket } from '../../src/operations/buckets/bucket-lookups.ts'
import { getSigned } from '../../src/operations/signed/get-signed.ts'
import { withoutLoader } from '../helpers/without-loader.ts'
import { TWO_DISKS } from '../helpers/disk-samples.ts'
import { foundThree } from '../helpers/membership-samples.ts'
import { ApiWorld, type ApiAnswer } from './api-world.ts'
import { bearing, type Cell, CredentialForms } from './credential-forms.ts'
import { askOf, type ExampleId, operationOf, PREPARED, STORY, takes } from './example-story.ts'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
const isOpen = (id: ExampleId): boolean =>
  !takes(operationOf(id), 'bearer') && !takes(operationOf(id), 'signedUrl')

/** The unexpected result; null: refused as expected. */
function faultOf({ status, code, form }: Cell, received: ApiAnswer, method: string): string | null {
  // HEAD has no body for the code.
  const isRefused = received.status === status && (method === 'HEAD' || received.code === code)
  return isRefused ? null : `${form}: ${received.status} ${String(received.code)}, not ${status} ${code}`
}

t.test(
  'no credential without the right passes or changes anything, and the narrowest right suffices [admin.roles.nothing-changes] [admin.tokens.bad]',
  async (t) => {
    const world = await ApiWorld.start(t, { limits: { adminRequestsBurst: 10_000 } })
    const forms = await CredentialForms.make(world.memory)
    await foundThree(world.memory)
    world.memory.repairs = TWO_DISKS
    await world.memory.change(PREPARED)
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
        const received = await world.call(cell.as(ask))
        t.equal(faultOf(cell, received, method), null, `${id}, ${cell.form}`)
      }
      t.equal(world.memory.checksum(), before, `${id}: no row of the state has changed`)
      cells += refused.length
      if (!tried.has(id)) t.ok(isOpen(id) ? refused.length === 0 : refused.length > 10, `${id} has its cells`)
      tried.add(id)
      // The forms have made the tenant already.
      const isThere = id === 'createTenant'
      const received = await world.call(bearing(await forms.narrowest(id), ask))
      t.ok(
        isThere ? received.status === 409 : received.status < 300,
        `${id} passes: ${received.bytes.toString().slice(0, 300)}`,
      )
      answers[id] = received.json
    }
    t.comment(`${cells} cells`)
    t.ok(cells > 1150, `${cells} cells`)
  },
)

t.test('an operation without credentials ignores an invalid one', async (t) => {
  const world = await ApiWorld.start(t)
  for (const id of STORY) {
    if (!isOpen(id) || id === 'createToken') continue
    for (const authorization of [undefined, 'Bearer garbage', 'Basic !!', ''])
      t.equal((await world.call(bearing(authorization, askOf(id, {})))).status, 200, id)
  }
})

const TOKEN = Type.Object({ token: Type.String() })
const nothing = async () => ({ kind: 'empty' }) as const

t.test('the matrix detects a route that does not call its operation', async (t) => {
  const world = await ApiWorld.start(t)
  const forms = await CredentialForms.make(world.memory)
  const success = { status: 200, description: 'Any' }
  const facts = { method: 'GET', summary: 'Forgets', success, example: {} } as const
  const sneaky = [
    dataRoute(getBucket, { path: '/buckets/{bucket}/sneaky', ...facts }, nothing),
    signedRoute(getSigned, { path: '/sneaky', query: TOKEN, ...facts }, nothing),
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

/** What the definition of an operation, and its route, cannot leave out. */
const DEFINITION = {
  id: "'sneak'",
  requires: "accessKey('read', 'bucket')",
  s3Action: 'null',
  refuses: '[]',
  target: 'bucketTarget',
}
const ROUTE = {
  method: "'GET'",
  path: "'/buckets/{bucket}/sneak'",
  summary: "'Sneaks'",
  success: "{ status: 200, description: 'Any' }",
  example: '{}',
}
const IMPORTS = `/** A file of a test. */
import { accessKey } from '../../access/rights.ts'
import { dataOperation } from '../../operations/base/operation.ts'
import type { Services } from '../../operations/base/services.ts'
import { bucketTarget } from '../../operations/base/targets.ts'
import { listTenants } from '../../operations/tenants/list-tenants.ts'
import { dataRoute } from '../route.ts'
export const used: unknown = [listTenants, {} as Services]
`

const membersOf = (facts: Readonly<Record<string, string>>, without?: string): string =>
  Object.entries(facts)
    .map(([name, value]) => (name === without ? '' : `${name}: ${value},`))
    .join(' ')

function sneaking({
  definition = membersOf(DEFINITION),
  route = membersOf(ROUTE),
  operation = 'sneak',
}): string {
  return `${IMPORTS}
export const sneak = dataOperation({ ${definition} }, async () => ({}))
export const raw = async (_services: Services, _principal: unknown, input: { readonly bucket: string }) => input
export const route = dataRoute(${operation}, { ${route} }, async () => ({ kind: 'empty' }))
`
}

t.test('an operation or a route that leaves a fact out, or authorization, does not compile', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-sneak-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  for (const part of ['src', 'cluster', 'tsconfig.json', 'package.json'])
    cpSync(join(ROOT, part), join(dir, part), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'))
  const cases: Readonly<Record<string, string>> = {
    whole: sneaking({}),
    raw: sneaking({ operation: 'raw' }),
    admin: sneaking({ operation: 'listTenants' }),
    ...Object.fromEntries(
      Object.keys(DEFINITION).map((name) => [
        `definition-${name}`,
        sneaking({ definition: membersOf(DEFINITION, name) }),
      ]),
    ),
    ...Object.fromEntries(
      Object.keys(ROUTE).map((name) => [`route-${name}`, sneaking({ route: membersOf(ROUTE, name) })]),
    ),
  }
  const files = Object.entries(cases).map(([name, text]) => {
    const file = `src/api/native/sneak-${name.toLowerCase()}.ts`
    writeFileSync(join(dir, file), text)
    return { name, file }
  })
  const options = { noEmit: true, composite: false, incremental: false, rootDir: '.', types: ['node'] }
  const config = { extends: './tsconfig.json', compilerOptions: options, references: [] }
  writeFileSync(join(dir, 'sneak.json'), JSON.stringify({ ...config, files: files.map(({ file }) => file) }))
  const compiler = join(ROOT, 'node_modules', '.bin', 'tsc')
  const { stdout } = spawnSync(...withoutLoader(compiler, '-p', 'sneak.json'), { cwd: dir, encoding: 'utf8' })
  for (const { name, file } of files) {
    const errors = stdout.split('\n').filter((line) => line.startsWith(file))
    const [, member] = name.split('-')
    if (name === 'whole') t.same(errors, [], 'with every fact it compiles')
    else if (member === undefined) t.ok(errors.length > 0, `the route does not take this operation: ${name}`)
    else t.match(stdout, new RegExp(`${file}[^]*?Property '${member}' is missing`), name)
  }
})
