/**
 * The built package: a strict program compiles against it, wrong names get errors that name them, it needs no other package, and it runs.
 */
import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { buildClient } from '../../scripts/build/client.ts'
import { ROOT } from '../../scripts/supply-chain/lockfile.ts'
import { withoutLoader } from '../helpers/without-loader.ts'

const RIGHT = `
import { ApiError, Holdfast, type StoredObject, type UploadProgress } from '@holdfast/client'
import { HoldfastAdmin } from '@holdfast/client/admin'

const client = new Holdfast({ endpoints: ['http://localhost:9000'], accessKeyId: 'AK', secretKey: 's' })
const admin = new HoldfastAdmin({ endpoints: 'http://localhost:9001', token: 't' })
export async function main(file: File, stream: ReadableStream<Uint8Array>): Promise<StoredObject> {
  const shown: UploadProgress[] = []
  await client.upload('photos', 'film', file, { parallel: 8, resume: true, onProgress: (one) => shown.push(one) })
  await client.putObject({ bucket: 'photos', key: 'k', body: stream, contentType: 'a/b', metadata: { a: 'b' } })
  for await (const { key, size } of client.objects({ bucket: 'photos', prefix: 'a/' })) console.log(key, size + 1)
  for await (const page of client.pages('listObjects', { bucket: 'photos' })) console.log(page.commonPrefixes.length)
  const plan = await admin.dryRun.createTenant({ id: 'acme', name: 'Acme' })
  console.log(plan.allowed, (await admin.createTenant({ id: 'acme', name: 'Acme' })).status)
  const download = await client.download('photos', 'film', { signal: AbortSignal.timeout(1000) })
  const text: string = await download.text()
  try {
    return await client.copyObject({ bucket: 'b', key: 'k', sourceBucket: 'a', sourceKey: text })
  } catch (error) {
    if (error instanceof ApiError) console.log(error.status, error.code, error.requestId)
    throw error
  }
}
`

/** A wrong line, and what the compiler has to say of it. */
const WRONG: readonly (readonly [string, RegExp])[] = [
  ["client.signUrl({ method: 'GET', bucket: 'b' })", /'signUrl' does not exist.*Did you mean 'signURL'/],
  [
    "client.putObject({ bucket: 'b', key: 'k', body: '', contenttype: 'a/b' })",
    /'contenttype' does not exist.*Did you mean to write 'contentType'/,
  ],
  ["client.putObject({ bucket: 'b', body: '' })", /Property 'key' is missing/],
  [
    "client.upload('b', 'k', '', { partsize: 1 })",
    /'partsize' does not exist.*Did you mean to write 'partSize'/,
  ],
  ["client.pages('listObject', { bucket: 'b' })", /"listObject"/],
  ["new Holdfast({ endpoint: 'http://a' })", /'endpoint' does not exist/],
  ['client.listBuckets({ maxBuckets: "2" })', /Type 'string' is not assignable to type 'number'/],
]

t.test('the package', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-client-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const place = join(folder, 'node_modules', '@holdfast', 'client')
  mkdirSync(place, { recursive: true })
  buildClient(ROOT, join(place, 'dist'))
  const manifest = readFileSync(join(ROOT, 'packages', 'client', 'package.json'), 'utf8')
  writeFileSync(join(place, 'package.json'), manifest)
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')

  const compiled = (text: string, types: readonly string[]): string => {
    writeFileSync(join(folder, 'program.ts'), text)
    const compilerOptions = {
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      exactOptionalPropertyTypes: true,
      module: 'nodenext',
      target: 'es2022',
      lib: types.length > 0 ? ['es2023'] : ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable'],
      types,
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }))
    const compiler = join(ROOT, 'node_modules', '.bin', 'tsc')
    return spawnSync(compiler, ['-p', folder], { encoding: 'utf8' }).stdout
  }

  t.test('is checked by the strictest compiler, for browsers and for Node.js', async (t) => {
    t.equal(compiled(RIGHT, []), '')
    mkdirSync(join(folder, 'node_modules', '@types'), { recursive: true })
    for (const name of ['@types/node', 'undici-types'])
      symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name))
    // Its own types of Node.js are not checked, but those of the client are.
    t.equal(
      compiled(RIGHT, ['node']).replace(/^node_modules\/(?:@types\/node|undici-types).*\n(?: .*\n)*/gm, ''),
      '',
    )
  })

  t.test('names what is wrong in a wrong program', async (t) => {
    const [before = ''] = RIGHT.split('export async function')
    for (const [line, message] of WRONG) t.match(compiled(`${before}\n${line}\n`, []), message, line)
  })

  t.test('has no dependency and nothing of a platform', async (t) => {
    const { dependencies, peerDependencies } = JSON.parse(manifest) as Record<string, unknown>
    t.same([dependencies, peerDependencies], [undefined, undefined])
    for (const file of globSync('*.js', { cwd: join(place, 'dist') })) {
      const text = readFileSync(join(place, 'dist', file), 'utf8')
      const imports = [
        ...text.matchAll(/^(?:import|export) .*from "([^"]+)"|\bimport\("([^"]+)"\)|\brequire\(/gm),
      ]
      t.same(
        imports.filter(([, from = '']) => from !== './shared.js').map(([line]) => line),
        [],
        file,
      )
      t.notMatch(text, /\bnode:|\bBuffer\b|\bprocess\./, file)
    }
  })

  t.test('runs', async (t) => {
    writeFileSync(
      join(folder, 'run.mjs'),
      `import { Holdfast } from '@holdfast/client'
       import { HoldfastAdmin } from '@holdfast/client/admin'
       try { new Holdfast({ endpoints: 'localhost:9000' }) } catch (error) { console.log(error.message) }
       console.log(new HoldfastAdmin({ endpoints: 'http://a', token: 't' }).tenants.name)`,
    )
    const run = spawnSync(...withoutLoader(process.execPath, join(folder, 'run.mjs')), { encoding: 'utf8' })
    t.equal(
      run.stdout,
      "'localhost:9000' is no endpoint: did you mean http://localhost:9000?\ntenants\n",
      run.stderr,
    )
  })
})
