/**
 * s3fs: the bucket mounted as a folder, at another node each time.
 */
import { deepEqual, equal } from 'node:assert/strict'
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { until } from '../helpers/async.ts'
import type { ClientScript, FoundClient } from './base/client-script.ts'
import { bytesOf, digestOfBytes, digestOfFile, writeLocal } from './base/files.ts'
import { hasFuse, isMounted } from './base/mounts.ts'
import { endOf, type Program, programsNamed, ran, started } from './base/programs.ts'
import type { Stage } from './base/stage.ts'

const MIB = 1024 * 1024
const MODE = 0o640

async function play(stage: Stage, program: Program): Promise<void> {
  const { accessKeyId, secretKey } = stage.credentials
  const bucket = stage.bucket('s3fs')
  const folder = stage.path('mounted')
  const file = (name: string): string => `${folder}/${name}`
  writeFileSync(stage.path('password'), `${accessKeyId}:${secretKey}\n`, { mode: 0o600 })
  mkdirSync(folder)
  await stage.native.client.call('createBucket', { body: { name: bucket } })
  const big = await writeLocal(stage.path('big.bin'), stage.sizes.bigBytes, 'big')
  const options = (endpoint: string): string =>
    [
      `passwd_file=${stage.path('password')}`,
      `url=${endpoint}`,
      'use_path_request_style',
      'sigv4',
      `multipart_size=${stage.sizes.partBytes / MIB}`,
      'stat_cache_expire=0',
    ].join(',')
  const mounted = async (at: string, work: () => Promise<void>): Promise<void> => {
    const child = started([program.path, bucket, folder, '-f', '-o', options(at)])
    const end = endOf(child)
    try {
      await until('the bucket is mounted', () => isMounted(folder) || child.exitCode !== null)
      if (!isMounted(folder)) throw new Error(`s3fs ended: ${(await end).err}`)
      await work()
    } finally {
      if (isMounted(folder)) await ran(['umount', folder])
      await end
    }
  }
  const step = (name: string, work: () => Promise<void>): Promise<void> =>
    stage.step(name, (at) => mounted(at, work))

  await step('write, in one request and in parts', async () => {
    writeFileSync(file('a file+.txt'), 'small')
    await ran(['cp', big.path, file('big.bin')])
    mkdirSync(file('größe'))
    writeFileSync(file('größe/deep.txt'), 'deep')
  })
  await stage.step('the native API reads the same objects', async () => {
    equal(await stage.native.digest(bucket, 'a file+.txt'), digestOfBytes(Buffer.from('small')))
    equal(await stage.native.digest(bucket, 'big.bin'), big.sha256)
    equal(await stage.native.digest(bucket, 'größe/deep.txt'), digestOfBytes(Buffer.from('deep')))
  })
  await step('read, list, stat', async () => {
    deepEqual(new Set(readdirSync(folder)), new Set(['a file+.txt', 'big.bin', 'größe']))
    equal(await digestOfFile(file('big.bin')), big.sha256)
    equal(statSync(file('big.bin')).size, big.bytes)
  })
  await step('an object of the native API is a file', async () => {
    await stage.native.client.call('putObject', {
      params: { bucket, key: 'native.bin' },
      body: bytesOf('native', 5000),
    })
    equal(Buffer.compare(readFileSync(file('native.bin')), bytesOf('native', 5000)), 0)
  })
  await step('rename, append, change of mode', async () => {
    renameSync(file('big.bin'), file('renamed %.bin'))
    appendFileSync(file('a file+.txt'), ' and more')
    await ran(['chmod', MODE.toString(8), file('a file+.txt')])
  })
  await step('what another mount sees of it', async () => {
    equal(readFileSync(file('a file+.txt'), 'utf8'), 'small and more')
    equal(statSync(file('a file+.txt')).mode & 0o777, MODE)
    equal(await digestOfFile(file('renamed %.bin')), big.sha256)
  })
  await step('remove', async () => {
    for (const name of readdirSync(folder)) rmSync(file(name), { recursive: true })
    deepEqual(readdirSync(folder), [])
  })
  await stage.step('the bucket is empty', async () => deepEqual(await stage.native.keys(bucket), []))
}

export const S3FS: ClientScript = {
  name: 's3fs',
  absence: 'apt-get install s3fs, and /dev/fuse',
  find: () =>
    hasFuse()
      ? programsNamed('s3fs').map(
          (program): FoundClient => ({
            version: /V([\d.]+)/.exec(program.version)?.[1] ?? program.version,
            play: (stage) => play(stage, program),
          }),
        )
      : [],
}
