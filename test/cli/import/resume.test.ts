/**
 * The ends of processes: an import that is killed inside a large object continues where it was, and reads nothing twice.
 */
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { CommandLine, ended } from '../../helpers/command-line.ts'
import { until } from '../../helpers/async.ts'
import { BODY, isStored, PARTS, rangeOf } from './film.ts'
import { type ImportWorld, importWorld } from './import-world.ts'

/** Ends an import while the source holds back the last part of `film`, after all others are stored. */
async function killed(
  t: Parameters<typeof importWorld>[0],
  signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL',
): Promise<ImportWorld & { readonly status: number | null; readonly err: string }> {
  const here = await importWorld(t)
  const { folder, source, world } = here
  for (const key of ['a', 'b']) source.put('photos', key, key)
  source.put('photos', 'film', { body: BODY })
  source.odd = {
    intercept: ({ range }) => (range === rangeOf(3).split(' ')[1] ? new Promise(() => {}) : false),
  }
  const env = {
    AWS_ACCESS_KEY_ID: 'AKID',
    AWS_SECRET_ACCESS_KEY: 'a secret',
    HOLDFAST_TOKEN: process.env['HOLDFAST_TOKEN'] ?? '',
  }
  const sides = ['--endpoint', source.endpoint, '--target-endpoint', `http://127.0.0.1:${world.dataPort}`]
  const command = new CommandLine({ cwd: process.cwd(), env })
  const child = command.start(['import', 's3://photos', ...sides, ...PARTS, '--state-folder', folder])
  let err = ''
  child.stderr?.on('data', (piece: Buffer) => (err += piece.toString()))
  await until('two parts are stored', () => storedParts(folder) === 2)
  child.kill(signal)
  const status = await ended(child)
  source.odd = {}
  source.asked.length = 0
  return { ...here, status, err }
}

/** As the one file in the folder says. */
function storedParts(folder: string): number {
  const [name] = existsSync(folder) ? readdirSync(folder).filter((one) => one.endsWith('.json')) : []
  if (name === undefined) return 0
  return (JSON.parse(readFileSync(join(folder, name), 'utf8')) as { readonly parts: number }).parts
}

t.test('an import that was killed inside a large object', { timeout: 1_800_000 }, async (t) => {
  await t.test('reads the rest of it alone, and verifies all of it', async (t) => {
    const here = await killed(t)
    const [name = ''] = readdirSync(here.folder)
    t.equal(statSync(join(here.folder, name)).mode & 0o077, 0, 'what it wrote down is private')
    const { code, lines } = await here.lines('s3://photos', ...PARTS)
    t.match(lines, [{ path: 'photos/film', verified: ['MD5'] }, { summary: { copied: 1, unchanged: 2 } }])
    t.equal(code, 0)
    t.same(here.source.reads, [rangeOf(3)])
    t.ok(await isStored(here))
    t.notOk(existsSync(here.folder))
  })

  await t.test('starts that object again when it changed since, and gives the old parts up', async (t) => {
    const here = await killed(t)
    const newer = randomBytes(BODY.length)
    here.source.put('photos', 'film', { body: newer })
    t.match((await here.lines('s3://photos', ...PARTS)).lines.at(-1), { summary: { copied: 1, failed: 0 } })
    t.same(here.source.reads, [1, 2, 3].map(rangeOf))
    t.ok((await here.get('photos/objects/film')).bytes.equals(newer))
    t.same((await here.get('photos/multipart')).json['uploads'], [])
  })

  await t.test('starts that object again when its upload is gone', async (t) => {
    const here = await killed(t)
    const { json } = await here.get('photos/multipart')
    const [upload] = json['uploads'] as readonly { readonly uploadId: string }[]
    const path = `/api/v1/buckets/photos/multipart/${upload?.uploadId}/film`
    await here.world.send({ method: 'DELETE', path, token: process.env['HOLDFAST_TOKEN'] ?? '' })
    t.match((await here.lines('s3://photos', ...PARTS)).lines.at(-1), { summary: { copied: 1, failed: 0 } })
    t.equal(here.source.reads.length, 3)
    t.ok(await isStored(here))
  })

  await t.test('says so when it was asked to end, and continues too', async (t) => {
    const here = await killed(t, 'SIGTERM')
    t.equal(here.status, 1)
    t.match(here.err, /The command was interrupted\n.*The same command continues with the rest/)
    t.match((await here.lines('s3://photos', ...PARTS)).lines.at(-1), { summary: { copied: 1, failed: 0 } })
    t.same(here.source.reads, [rangeOf(3)])
  })
})
