/**
 * s3cmd: files, folders, an upload that is broken off and continued.
 */
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { until } from '../helpers/async.ts'
import type { ClientScript, FoundClient } from './base/client-script.ts'
import { digestOfFile, digestsOf, listed, writeLocal, writeTree } from './base/files.ts'
import { endOf, type Program, programsNamed, ran, refused, started } from './base/programs.ts'
import type { Stage } from './base/stage.ts'

const MIB = 1024 * 1024

async function play(stage: Stage, program: Program): Promise<void> {
  const { accessKeyId, secretKey } = stage.credentials
  const bucket = `s3://${stage.bucket('s3cmd')}`
  const parts = `multipart_chunk_size_mb = ${stage.sizes.partBytes / MIB}`
  const config = stage.path('s3cfg')
  writeFileSync(
    config,
    `[default]\naccess_key = ${accessKeyId}\nsecret_key = ${secretKey}\nuse_https = False\n${parts}\n`,
  )
  const command = (endpoint: string, ...args: readonly string[]): readonly string[] => {
    const { host } = new URL(endpoint)
    return [program.path, '-c', config, '--host', host, '--host-bucket', host, '--no-progress', ...args]
  }
  const s3cmd = async (endpoint: string, ...args: readonly string[]): Promise<string> =>
    (await ran(command(endpoint, ...args))).toString()
  const tree = await writeTree(stage.path('tree'), stage.sizes.many)
  const big = await writeLocal(stage.path('big file.bin'), stage.sizes.bigBytes, 'big')
  const native = (): Promise<void> => stage.native.holds(stage.bucket('s3cmd'), tree, 'tree/')

  await stage.step('mb, ls', async (at) => {
    await s3cmd(at, 'mb', bucket)
    ok((await s3cmd(at, 'ls')).includes(bucket))
  })
  await stage.step('put in parts', async (at) => {
    await s3cmd(
      at,
      'put',
      '--add-header',
      'x-amz-meta-from:me',
      '--mime-type',
      'text/x-big',
      big.path,
      `${bucket}/big file.bin`,
    )
    equal((await stage.native.facts(stage.bucket('s3cmd'), 'big file.bin'))['content-type'], 'text/x-big')
  })
  await stage.step('info', async (at) => {
    const out = await s3cmd(at, 'info', `${bucket}/big file.bin`)
    match(out, new RegExp(`File size: ${big.bytes}`))
    match(out, /x-amz-meta-from: me/)
  })
  await stage.step('get', async (at) => {
    await s3cmd(at, 'get', `${bucket}/big file.bin`, stage.path('back.bin'))
    equal(await digestOfFile(stage.path('back.bin')), big.sha256)
  })
  await stage.step('sync, up', (at) => s3cmd(at, 'sync', `${stage.path('tree')}/`, `${bucket}/tree/`))
  await stage.step('sync again sends nothing', async (at) => {
    equal((await s3cmd(at, 'sync', `${stage.path('tree')}/`, `${bucket}/tree/`)).trim(), '')
  })
  await stage.step('the native API reads the same objects', native)
  await stage.step('sync, down', async (at) => {
    await s3cmd(at, 'sync', `${bucket}/tree/`, `${stage.path('back')}/`)
    deepEqual(listed(await digestsOf(stage.path('back'))), listed(tree))
  })
  await stage.step('sync --delete-removed', async (at) => {
    tree.delete('plain.txt')
    rmSync(stage.path('tree', 'plain.txt'))
    await s3cmd(at, 'sync', '--delete-removed', `${stage.path('tree')}/`, `${bucket}/tree/`)
    await native()
  })
  await stage.step('cp, mv, del', async (at) => {
    await s3cmd(at, 'cp', `${bucket}/tree/plus+plus.txt`, `${bucket}/copy %.txt`)
    await s3cmd(at, 'mv', `${bucket}/copy %.txt`, `${bucket}/moved.txt`)
    equal(await stage.native.digest(stage.bucket('s3cmd'), 'moved.txt'), tree.get('plus+plus.txt'))
    await s3cmd(at, 'del', `${bucket}/moved.txt`)
  })
  await stage.step('an upload is broken off', async (at) => {
    const slow = Math.floor(stage.sizes.partBytes / 2)
    const upload = started(command(at, 'put', `--limit-rate=${slow}`, big.path, `${bucket}/resumed.bin`))
    const end = endOf(upload)
    await until(
      'a part has arrived',
      async () => upload.exitCode !== null || (await stage.native.partsArrived(stage.bucket('s3cmd'))) > 0,
    )
    upload.kill('SIGKILL')
    await end
  })
  await stage.step('multipart; put --continue-put', async (at) => {
    match(await s3cmd(at, 'multipart', bucket), /resumed\.bin/)
    const out = await s3cmd(at, 'put', '--continue-put', '-v', big.path, `${bucket}/resumed.bin`)
    ok(out.length >= 0)
    equal(await stage.native.digest(stage.bucket('s3cmd'), 'resumed.bin'), big.sha256)
    equal(await stage.native.partsArrived(stage.bucket('s3cmd')), 0)
  })
  await stage.step('signurl makes a URL of version 2, which is refused', async (at) => {
    const url = (await s3cmd(at, 'signurl', `${bucket}/resumed.bin`, '+60')).trim()
    const answer = await fetch(url)
    ok(answer.status >= 400)
    match(await answer.text(), /s3v4|AWS4-HMAC-SHA256/)
  })
  await stage.step('rb of a bucket that is not empty', async (at) => {
    match(await refused(command(at, 'rb', bucket)), /BucketNotEmpty/)
  })
  await stage.step('del --recursive, rb', async (at) => {
    await s3cmd(at, 'del', '--recursive', '--force', bucket)
    await s3cmd(at, 'rb', bucket)
    ok(!(await s3cmd(at, 'ls')).includes(bucket))
  })
}

export const S3CMD: ClientScript = {
  name: 's3cmd',
  absence: 'apt-get install s3cmd',
  find: () =>
    programsNamed('s3cmd').map(
      (program): FoundClient => ({
        version: program.version.replace('s3cmd version ', ''),
        play: (stage) => play(stage, program),
      }),
    ),
}
