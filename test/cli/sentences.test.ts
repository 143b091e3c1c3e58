/**
 * What a person reads when a command is refused or meets no node: the message first, the way out, the request last.
 */
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { readFileSync } from 'node:fs'
import type { AddressInfo, Server } from 'node:net'
import t, { type Test } from 'tap'
import { withEarlyOptions } from '../../src/cli/early-options.ts'
import { contentTypeOf } from '../../src/cli/objects/content-type.ts'
import { sizeValue } from '../../src/cli/commands/options.ts'
import { programOf } from '../../src/cli/program.ts'
import { ApiWorld } from '../api/api-world.ts'
import { runCommand } from '../helpers/run-command.ts'
import { MadeCertificates } from '../transport/made-certificates.ts'

const REQUEST = 'Request [0-9a-f-]{36}, \\w+\\.\\n$'

async function listening(t: Test, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}

t.test('a refusal', async (t) => {
  const { world, token } = await ApiWorld.withBucket(t)
  process.env['HOLDFAST_TOKEN'] = token
  t.teardown(() => delete process.env['HOLDFAST_TOKEN'])
  const at = ['--endpoint', `http://127.0.0.1:${world.dataPort}`]
  const run = (...args: readonly string[]) => runCommand(...args, ...at)

  await t.test('of a missing bucket names the command that makes it', async (t) => {
    const { code, err } = await run('ls', 'pictures')
    t.equal(code, 1)
    t.match(
      err,
      new RegExp(
        `^error: Bucket "pictures" does not exist \\(404 not_found\\); create it with: holdfast bucket create pictures\\n  ${REQUEST}`,
      ),
    )
    const { error } = JSON.parse((await runCommand('--json', 'ls', 'pictures', ...at)).err) as {
      readonly error: object
    }
    t.match(error, {
      code: 'not_found',
      message: 'Bucket "pictures" does not exist (404 not_found)',
      hint: /^Create it with: holdfast bucket create pictures\.\n/,
      requestId: /-/,
    })
  })

  await t.test('of a missing object names the listing of its folder', async (t) => {
    t.match(await run('get', 'photos/2026/cat.jpg', '-'), {
      code: 1,
      err: /\(404 not_found\); list what is there with: holdfast ls photos\/2026\/\n/,
    })
    t.match(
      await run('stat', 'photos/none'),
      { code: 1, err: /\(404 not_found\)/ },
      'an answer without a body',
    )
  })

  await t.test('of a scope says what the scope is limited to', async (t) => {
    process.env['HOLDFAST_TOKEN'] = await world.memory.bearer('acme', 'op=write:bucket=photos:prefix=in/')
    t.match(await run('bucket', 'create', 'pictures'), {
      code: 1,
      err: /^error: Access key '\w+' has no write scope here: its write scope is limited to photos\/in\/ \(403 access_denied\); check the scopes/,
    })
    process.env['HOLDFAST_TOKEN'] = token
  })

  await t.test('of a bucket that is not empty ends with 3', async (t) => {
    await world.send({ method: 'PUT', path: '/api/v1/buckets/photos/objects/a', token, body: 'a' })
    t.match(await run('bucket', 'delete', 'photos'), {
      code: 3,
      err: /\(409 bucket_not_empty\); remove its objects first/,
    })
  })

  await t.test('stat and ls have the same time, and buckets have a heading', async (t) => {
    const [listed = ''] = (await run('ls', 'photos')).out.split(' ')
    t.match(listed, /\.\d{3}Z$/)
    t.match((await run('stat', 'photos/a')).out, new RegExp(`lastModified +${listed}\n`))
    t.match((await run('ls')).out, /^CREATED +VERSIONING +BUCKET\n.*Z +Unversioned +photos\n$/)
  })
})

t.test('no answer', async (t) => {
  process.env['HOLDFAST_TOKEN'] = 'svctk_any'
  t.teardown(() => delete process.env['HOLDFAST_TOKEN'])
  const made = new MadeCertificates(t)
  const { cert, key } = made.issue('n1', { hosts: ['127.0.0.1'] })
  const secure = await listening(
    t,
    createTlsServer({ cert: readFileSync(cert), key: readFileSync(key) }, (_, response) =>
      response.end('{}'),
    ),
  )
  const plain = await listening(
    t,
    createServer((_, response) => response.end('{}')),
  )
  const lists = (endpoint: string) => runCommand('ls', '--endpoint', endpoint)
  t.match(await lists(`http://127.0.0.1:${secure}`), {
    code: 4,
    err: `error: http://127.0.0.1:${secure} speaks TLS, and was asked without it\n  Write https://127.0.0.1:${secure}, `,
  })
  t.match(await lists(`https://127.0.0.1:${plain}`), {
    code: 4,
    err: `error: https://127.0.0.1:${plain} does not speak TLS\n  Write http://127.0.0.1:${plain}, `,
  })
  t.match(await lists(`https://127.0.0.1:${secure}`), {
    code: 4,
    err: /an authority that this machine does not know\n.*--ca-file/,
  })
  t.match(await lists('http://127.0.0.1:1'), {
    code: 4,
    err: /No node listens at http:\/\/127.0.0.1:1 \(ECONNREFUSED\)/,
  })
})

t.test('--json and --profile may stand before the command', async (t) => {
  const program = programOf(() => {})
  const moved = (...typed: readonly string[]) => withEarlyOptions(program, typed).join(' ')
  t.equal(moved('--json', 'ls', 'photos'), 'ls --json photos')
  t.equal(moved('bucket', '--json', 'get', 'photos'), 'bucket get --json photos')
  t.equal(moved('--profile', 'work', '--json', 'ls'), 'ls --profile work --json')
  t.equal(moved('--profile=work', 'ls'), 'ls --profile=work')
  t.equal(moved('put', '--', '--json', 'photos/'), 'put -- --json photos/', 'a file may be called so')
  t.equal(moved('--version'), '--version')
})

t.test('a size has a binary or a decimal unit', async (t) => {
  t.same(['10GB', '1kB', '64KiB', '7'].map(sizeValue), [10e9, 1000, 65_536, 7])
  t.throws(() => sizeValue('10gb'), /10GB/)
})

t.test('the type of a file comes from its ending', async (t) => {
  for (const [name, type] of [
    ['a.docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
    ['a.WOFF2', 'font/woff2'],
    ['a.heic', 'image/heic'],
    ['a.parquet', 'application/vnd.apache.parquet'],
    ['a.txt', 'text/plain; charset=utf-8'],
    ['a.json', 'application/json'],
    ['a', 'application/octet-stream'],
    ['a.constructor', 'application/octet-stream'],
  ] as const)
    t.equal(contentTypeOf(name), type, name)
})
