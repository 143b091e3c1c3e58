/**
 * rclone: copies, sync, comparisons, and the bucket mounted as a folder where the machine has FUSE.
 */
import { deepEqual, equal, match } from 'node:assert/strict'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { until } from '../helpers/async.ts'
import type { ClientScript, FoundClient } from './base/client-script.ts'
import { bytesOf, digestOfFile, digestsOf, listed, writeLocal, writeTree } from './base/files.ts'
import { hasFuse, isMounted } from './base/mounts.ts'
import { endOf, type Program, programsNamed, ran, started } from './base/programs.ts'
import type { Stage } from './base/stage.ts'

async function play(stage: Stage, program: Program): Promise<void> {
  const bucket = stage.bucket('rclone')
  const parts = String(stage.sizes.partBytes)
  const env = (endpoint: string): Record<string, string> => ({
    RCLONE_CONFIG: stage.path('rclone.conf'),
    RCLONE_CONFIG_S_TYPE: 's3',
    RCLONE_CONFIG_S_PROVIDER: 'Other',
    RCLONE_CONFIG_S_ACCESS_KEY_ID: stage.credentials.accessKeyId,
    RCLONE_CONFIG_S_SECRET_ACCESS_KEY: stage.credentials.secretKey,
    RCLONE_CONFIG_S_ENDPOINT: endpoint,
    RCLONE_CONFIG_S_CHUNK_SIZE: `${parts}B`,
    RCLONE_CONFIG_S_UPLOAD_CUTOFF: `${parts}B`,
  })
  const rclone = async (endpoint: string, ...args: readonly string[]): Promise<string> =>
    (await ran([program.path, ...args], { env: env(endpoint) })).toString()
  writeFileSync(stage.path('rclone.conf'), '')
  const tree = await writeTree(stage.path('tree'), stage.sizes.many)
  const big = await writeLocal(stage.path('big file.bin'), stage.sizes.bigBytes, 'big')

  await stage.step('mkdir, lsd', async (at) => {
    await rclone(at, 'mkdir', `s:${bucket}`)
    match(await rclone(at, 'lsd', 's:'), new RegExp(bucket))
  })
  await stage.step('copy, up', (at) => rclone(at, 'copy', stage.path('tree'), `s:${bucket}/tree`))
  await stage.step('check', (at) => rclone(at, 'check', stage.path('tree'), `s:${bucket}/tree`))
  await stage.step('check --download', (at) =>
    rclone(at, 'check', '--download', stage.path('tree'), `s:${bucket}/tree`),
  )
  await stage.step('the native API reads the same objects', () => stage.native.holds(bucket, tree, 'tree/'))
  await stage.step('copyto in parts', (at) => rclone(at, 'copyto', big.path, `s:${bucket}/big file.bin`))
  await stage.step('copyto back', async (at) => {
    await rclone(at, 'copyto', `s:${bucket}/big file.bin`, stage.path('back.bin'))
    equal(await digestOfFile(stage.path('back.bin')), big.sha256)
  })
  await stage.step('copy between folders of the bucket', async (at) => {
    await rclone(at, 'copy', `s:${bucket}/tree`, `s:${bucket}/copies of it`)
    await stage.native.holds(bucket, tree, 'copies of it/')
    await rclone(at, 'copyto', `s:${bucket}/big file.bin`, `s:${bucket}/big copy.bin`)
    equal(await stage.native.digest(bucket, 'big copy.bin'), big.sha256)
  })
  await stage.step('sync', async (at) => {
    tree.delete('plain.txt')
    rmSync(stage.path('tree', 'plain.txt'))
    tree.set('new.txt', (await writeLocal(stage.path('tree', 'new.txt'), 77, 'new')).sha256)
    await rclone(at, 'sync', stage.path('tree'), `s:${bucket}/tree`)
    await stage.native.holds(bucket, tree, 'tree/')
  })
  await stage.step('copy, down', async (at) => {
    await rclone(at, 'copy', `s:${bucket}/tree`, stage.path('back'))
    deepEqual(listed(await digestsOf(stage.path('back'))), listed(tree))
  })
  await stage.step('lsjson, touch, moveto, cat', async (at) => {
    await rclone(at, 'moveto', `s:${bucket}/tree/new.txt`, `s:${bucket}/moved+it.txt`)
    const [entry] = JSON.parse(await rclone(at, 'lsjson', `s:${bucket}/moved+it.txt`)) as {
      readonly Size: number
    }[]
    equal(entry?.Size, 77)
    equal(
      Buffer.compare(
        await ran([program.path, 'cat', `s:${bucket}/moved+it.txt`], { env: env(at) }),
        bytesOf('new', 77),
      ),
      0,
    )
  })
  await stage.step('rcat, a stream of unknown length', async (at) => {
    await ran([program.path, 'rcat', `s:${bucket}/stream.bin`], { env: env(at), input: big.path })
    equal(await stage.native.digest(bucket, 'stream.bin'), big.sha256)
  })
  await stage.step('an upload is killed; copyto and cleanup', async (at) => {
    const limit = `${Math.floor(stage.sizes.partBytes / 2)}B`
    const slow = [
      'copyto',
      '--bwlimit',
      limit,
      '--s3-upload-concurrency',
      '1',
      big.path,
      `s:${bucket}/again.bin`,
    ]
    const upload = started([program.path, ...slow], { env: env(at) })
    const end = endOf(upload)
    await until(
      'a part has arrived',
      async () => upload.exitCode !== null || (await stage.native.partsArrived(bucket)) > 0,
    )
    upload.kill('SIGKILL')
    await end
    await rclone(at, 'copyto', big.path, `s:${bucket}/again.bin`)
    await rclone(at, 'backend', 'cleanup', '-o', 'max-age=0', `s:${bucket}`)
    equal(await stage.native.partsArrived(bucket), 0)
    equal(await stage.native.digest(bucket, 'again.bin'), big.sha256)
  })
  if (hasFuse()) await mount(stage, program, env)
  await stage.step('purge', async (at) => {
    await rclone(at, 'purge', `s:${bucket}`)
    equal((await rclone(at, 'lsd', 's:')).includes(bucket), false)
  })
}

async function mount(
  stage: Stage,
  program: Program,
  env: (endpoint: string) => Record<string, string>,
): Promise<void> {
  const bucket = stage.bucket('rclone')
  const folder = stage.path('mounted')
  mkdirSync(folder)
  const mounted = async (at: string, work: () => Promise<void>): Promise<void> => {
    const command = [
      program.path,
      'mount',
      '--vfs-cache-mode',
      'writes',
      '--vfs-write-back',
      '0',
      '--dir-cache-time',
      '0',
    ]
    const child = started([...command, `s:${bucket}/mount`, folder], {
      env: { ...env(at), RCLONE_CACHE_DIR: stage.path('cache') },
    })
    const end = endOf(child)
    try {
      await until('the bucket is mounted', () => isMounted(folder) || child.exitCode !== null)
      if (!isMounted(folder)) throw new Error(`rclone ended: ${(await end).err}`)
      await work()
    } finally {
      child.kill('SIGTERM')
      await end
    }
  }
  await stage.step('mount: write', (at) =>
    mounted(at, async () => {
      writeFileSync(`${folder}/a file.bin`, bytesOf('mounted', 100_000))
      const isThere = async (): Promise<boolean> => (await stage.native.keys(bucket, 'mount/')).length > 0
      await until('the file is stored', isThere)
    }),
  )
  await stage.step('mount: read, rename', (at) =>
    mounted(at, async () => {
      equal(Buffer.compare(readFileSync(`${folder}/a file.bin`), bytesOf('mounted', 100_000)), 0)
      renameSync(`${folder}/a file.bin`, `${folder}/renamed.bin`)
      deepEqual(await stage.native.keys(bucket, 'mount/'), ['mount/renamed.bin'])
    }),
  )
}

export const RCLONE: ClientScript = {
  name: 'rclone',
  absence: 'apt-get install rclone',
  find: () =>
    programsNamed('rclone', ['version']).map(
      (program): FoundClient => ({
        version: program.version.replace('rclone v', ''),
        play: (stage) => play(stage, program),
      }),
    ),
}
